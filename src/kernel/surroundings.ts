/** What must be there beside the configuration: packages of providers, tables of the database. */
import type { AdapterMethod } from '../contract/adapter.ts'
import type { ReadyOptions } from '../contract/entry-points.ts'
import { AdapterError, AuthError } from '../errors/index.ts'
import { withTimeout } from '../errors/deadlines.ts'
import { unnamedHostsWarning } from '../http/origin.ts'
import { flowOf } from '../options/providers.ts'
import { abilitiesOf } from '../registry/strategies.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import { assertTables } from '../store/record-table.ts'

// Milliseconds between two looks.
const pause = 1_000
// What was found in order stays so until the next registration.
const checkedSnapshots = new WeakSet<Snapshot>()

/** Throws AuthError with all that is missing; the single errors are `cause.errors`. A store that does not answer is a warning: it may come later. */
export async function checkSurroundings(
  app: Snapshot,
  { wait = 0, onProgress = onTerminal }: Omit<ReadyOptions, 'warm'> = {},
): Promise<void> {
  const started = performance.now()
  for (;;) {
    const fault = await faultOf(async () => {
      // Without this a store that is away is a warning: the server may start before it.
      if (wait > 0 && app.store?.supports('getUserByEmail')) await app.store.getUserByEmail('ready@invalid.invalid')
      await checkOnce(app)
    })
    const seconds = Math.round((performance.now() - started) / 1000)
    if (!fault || !(fault instanceof AdapterError) || seconds >= wait) {
      if (wait > 0) onProgress({ seconds, message: fault ? fault.message : '' })
      if (fault) throw fault
      return
    }
    onProgress({ seconds, message: fault.message })
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** A line that the next one replaces; the last one is empty. */
function onTerminal({ seconds, message }: { seconds: number; message: string }): void {
  const { stderr } = (typeof process === 'undefined' ? {} : process) as { stderr?: { isTTY?: boolean; write(text: string): unknown } }
  if (stderr?.isTTY) stderr.write(`\r\u001B[K${message && `authkernel waits since ${seconds} s: ${message}`}`)
}

async function checkOnce(app: Snapshot): Promise<void> {
  if (checkedSnapshots.has(app)) return
  const found = await Promise.all(
    [...app.providers.values()].map((provider) => faultOf(() => flowOf(app.flows, provider.type).check?.(provider))),
  )
  const errors = [...found, await missingTables(app), await missingRecords(app)].filter((error) => error !== undefined)
  const [first, second] = errors
  if (second) {
    const list = errors.map(({ message }) => `- ${message}`).join('\n')
    throw new AuthError(`${errors.length} things are missing:\n${list}`, { cause: { errors } })
  }
  if (first) throw first
  const warning = app.bus.has('hook', 'settings') ? undefined : unnamedHostsWarning(app.config, app.settings)
  if (warning) app.config.logger.warn('trust-host-unlisted', warning)
  warnOfLocalEndings(app)
  checkedSnapshots.add(app)
}

async function faultOf(check: () => unknown): Promise<AuthError | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return error instanceof AuthError ? error : new AuthError(error instanceof Error ? error : String(error))
  }
}

/** Endings of access reach other processes by records. Without them a sign-in that is under way at another process survives an ending. */
function warnOfLocalEndings({ config, services, store }: Snapshot): void {
  const { session, records } = services
  if (!store || records || !session || !abilitiesOf(session).has('revoke:user')) return
  config.logger.warn('access-per-process', {
    message:
      'The adapter has no records, so this process alone knows when access of a user was ended: a sign-in that began before at another process goes on. ' +
      'With several processes add `.use(recordsPlugin(…))`, or use an adapter of authkernel.',
  })
}

async function missingTables(app: Snapshot): Promise<AuthError | undefined> {
  const { store, config } = app
  if (!store?.missingTables) return undefined
  try {
    const missing = await withTimeout(
      Promise.resolve(store.missingTables(operationsOf(app))),
      config.deadlines.store,
      () => new Error(`no answer within ${config.deadlines.store} ms (deadlines.store)`),
    )
    if (missing.length === 0) return undefined
    const names = missing.map((part) => (typeof part === 'string' ? part : part.name))
    const tables = names.some((name) => name.includes('.')) ? '' : names.length > 1 ? 'the tables ' : 'the table '
    const list = missing.map((part) => (typeof part === 'string' ? part : `${part.name} (${part.remedy})`)).join(', ')
    const lacks = `The database lacks ${tables}${list}.`
    if (missing.every((part) => typeof part !== 'string')) return new AdapterError(lacks)
    return new AdapterError(`${lacks} Make what is missing: npx authkernel migrate --apply`, { cause: { remedy: 'migrate' } })
  } catch (error) {
    // A mistake of the host, which does not pass by itself.
    if (error instanceof AuthError && !(error instanceof AdapterError)) return error
    config.logger.warn('store-not-checked', { message: error instanceof Error ? error.message : String(error) })
    return undefined
  }
}

async function missingRecords({ services, records, config }: Snapshot): Promise<AuthError | undefined> {
  const store = services.records
  return store && records.size > 0 ? faultOf(() => assertTables(store, config.deadlines.store)) : undefined
}

/** Operations that the strategy of sessions, the types of the providers in use and plugins need. */
function operationsOf({ services: { session }, providers, flows, required }: Snapshot): (AdapterMethod | 'nullableEmail')[] {
  const types = new Set([...providers.values()].map(({ type }) => type))
  const ofPlugins = [...required].filter((name) => name.startsWith('store:')).map((name) => name.slice(6) as AdapterMethod)
  return [...new Set([...(session?.methods ?? []), ...[...types].flatMap((type) => flowOf(flows, type).methods ?? []), ...ofPlugins])]
}
