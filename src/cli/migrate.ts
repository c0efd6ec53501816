/** `authkernel migrate`: shows what the tables of the app's database lack, and adds it when told to. Nothing is ever dropped. */
import { adapterOf } from 'authkernel/plugins/adapter'
import { loadModule } from './load.ts'
import { type Report, UsageError, type Setting } from './report.ts'
import { lookInside } from './snapshot.ts'

/** Options of the command. */
export interface MigrateOptions {
  auth?: string | undefined
  env?: string | undefined
  apply?: boolean | undefined
  /** `better-auth`. */
  from?: string | undefined
}
/** What an adapter that can migrate offers: `sqlAdapter()` does. */
export interface Migrates {
  /** Statements that bring the database up to date; they are run when `apply` is true. */
  migrate(options: { apply: boolean }): Promise<{ statements: readonly string[]; notes?: readonly string[] }>
}

/** What `betterAuthCompatPlugin` puts on `auth`. */
interface TakesOver {
  takeOver(options: { apply: boolean }): Promise<{
    users: number
    sessions: number
    passwords: { found: number; taken: number }
    factors: { found: number; taken: number }
    notes: readonly string[]
  }>
}

/** Throws UsageError when the app's adapter has nothing to migrate. */
export async function migrate(options: MigrateOptions, setting: Setting): Promise<Report> {
  const { auth, file, module } = await loadModule(options, setting)
  if (options.from !== undefined && options.from !== 'better-auth')
    throw new UsageError(`--from knows better-auth, and not ${JSON.stringify(options.from)}. From Auth.js nothing has to be taken over.`)
  const other = (auth as { betterAuth?: TakesOver }).betterAuth
  if (options.from && !other)
    throw new UsageError(`${file} does not use betterAuthCompatPlugin({ db }): add it, so that the tables of better-auth can be read.`)
  const { store, config, services } = (await lookInside(auth, 'https://your-app.example')).app
  const adapter = [adapterOf(store), config.adapter, module['adapter']].find(canMigrate)
  // What an adapter keeps for plugins is in its own migration.
  const own = (adapter as { records?: unknown } | undefined)?.records === services.records
  const parts = [adapter, own ? undefined : services.records].filter(canMigrate)
  if (parts.length === 0) {
    throw new UsageError(
      `${file} has no adapter that migrates: give sqlAdapter() to createAuth as \`adapter\`, use it with adapterPlugin(), or export it as \`adapter\`. Other stores have no tables.`,
    )
  }
  const apply = options.apply === true
  const [statements, notes]: [string[], string[]] = [[], []]
  for (const part of parts) {
    const done = await part.migrate({ apply }).catch((error: unknown) => {
      throw new UsageError(`The database of ${file} could not be ${apply ? 'migrated' : 'read'}: ${reasonOf(error)}`)
    })
    statements.push(...done.statements.filter((statement) => !statements.includes(statement)))
    notes.push(...(done.notes ?? []))
  }
  const taken = options.from
    ? await other!.takeOver({ apply }).catch((error: unknown) => {
        throw new UsageError(`better-auth could not be taken over: ${reasonOf(error)}`)
      })
    : undefined
  notes.push(...(taken?.notes ?? []))
  await auth.close()
  const { good, faint, warn } = setting.paint
  const said = notes.map((note) => `${warn('note')} ${note}`)
  const last = apply
    ? good(`${statements.length} statements were run.`)
    : faint(`Nothing was changed. \`authkernel migrate${taken ? ' --from better-auth' : ''} --apply\` does it.`)
  return {
    data: { file, statements, notes, ...(taken && { from: taken }), applied: apply },
    // Somebody must look at them first.
    ok: notes.length === 0,
    lines: taken
      ? [...statements.map((statement) => `${statement};`), '', ...summarizeReport(taken, apply), ...said, last]
      : statements.length === 0
        ? [...said, notes.length === 0 ? good('The database is up to date.') : 'There is nothing else to do.']
        : [...statements.map((statement) => `${statement};`), '', ...said, last],
  }
}

function summarizeReport({ users, sessions, passwords, factors }: Awaited<ReturnType<TakesOver['takeOver']>>, apply: boolean): string[] {
  const done = apply ? 'taken over' : 'to take over'
  return [
    `${users} users and ${sessions} sessions are read where they are.`,
    `Passwords: ${passwords.found} found, ${passwords.taken} ${done}.`,
    `Second factors: ${factors.found} found, ${factors.taken} ${done}.`,
  ]
}

// Where a name has several addresses, Node's error is a list without a text of its own.
function reasonOf(error: unknown): string {
  const { message, errors } = error as { message?: string; errors?: readonly Error[] }
  return message || errors?.map((each) => each.message).join(', ') || String(error)
}

function canMigrate(value: unknown): value is Migrates {
  return typeof (value as Partial<Migrates> | null | undefined)?.migrate === 'function'
}
