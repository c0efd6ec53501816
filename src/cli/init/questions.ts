/** The three questions of `init`, and the flags that answer them. */
import { UsageError } from '../report.ts'
import type { Answers } from './auth-module.ts'
import { type Project, type StoreKind, stores } from './project.ts'

/** Answers that were given as flags. */
export interface Flags {
  /** Ids with commas. */
  providers?: string | undefined
  store?: string | undefined
}

/** Asks what the flags leave open, when `ask` is true; else takes what suggests itself. Throws UsageError for unknown words. */
export async function answersOf(flags: Flags, project: Project, known: readonly string[], ask: boolean): Promise<Answers> {
  const providers =
    flags.providers === undefined ? (ask ? await askProviders(known) : ['demo']) : flags.providers.split(',').map((id) => id.trim())
  const unknown = providers.find((id) => id !== 'demo' && !known.includes(id))
  if (unknown !== undefined)
    throw new UsageError(
      `authkernel brings no provider "${unknown}". \`npx authkernel provider\` lists them; "demo" is a password for development.`,
    )
  const store = flags.store ?? (ask ? await askStore(project) : project.store)
  if (!stores.includes(store as StoreKind)) throw new UsageError(`There is no store "${store}". Known: ${stores.join(', ')}.`)
  return { providers, store: store as StoreKind }
}

/** The last question. False: nothing is to be written. */
export async function confirmChanges(): Promise<boolean> {
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: 'Write these files?' })
  return !isCancel(answer) && answer
}

async function askProviders(known: readonly string[]): Promise<string[]> {
  const { isCancel, multiselect } = await import('@clack/prompts')
  const popular = ['google', 'github', 'microsoft-entra-id', 'apple', 'discord', 'gitlab'].filter((id) => known.includes(id))
  const options = [
    { value: 'demo', label: 'A demo password, for development', hint: 'works at once' },
    ...popular.map((id) => ({ value: id, label: id, hint: 'needs an id and a secret of the provider' })),
  ]
  const answer = await multiselect({
    message: 'How do users sign in? (more: npx authkernel add <provider>)',
    options,
    initialValues: ['demo'],
  })
  return isCancel(answer) ? throwCancelled() : answer
}

async function askStore({ store }: Project): Promise<StoreKind> {
  const { isCancel, select } = await import('@clack/prompts')
  const labels = { none: 'Nowhere: sessions in a cookie', sqlite: 'SQLite file', postgres: 'PostgreSQL', mysql: 'MySQL or MariaDB' }
  const options = stores.map((value) => ({ value, label: labels[value] }))
  const answer = await select({ message: 'Where are users kept?', options, initialValue: store })
  return isCancel(answer) ? throwCancelled() : answer
}

function throwCancelled(): never {
  throw new UsageError('Nothing was written.')
}
