/** `authkernel migrate`: shows what the tables of the app's database lack, and adds it when told to. Nothing is ever dropped. */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { adapterOf, sessionStoreOf } from 'authkernel/plugins/adapter'
import type { Auth } from 'authkernel/kernel'
import type { ImportReport } from 'authkernel/plugins/import'
import { type Mover, openImport } from './import.ts'
import { loadModule } from './load.ts'
import { finishMove } from './finish-move.ts'
import { describeMove, drawMove } from './migrate-report.ts'
import { createProgress } from './progress.ts'
import { type Report, UsageError, type Setting } from './report.ts'
import { lookInside } from './snapshot.ts'

/** Options of the command. */
export interface MigrateOptions {
  auth?: string | undefined
  env?: string | undefined
  apply?: boolean | undefined
  /** `better-auth`, or a service such as `clerk`. */
  from?: string | undefined
  /** Files of an export, with commas between them. */
  file?: string | undefined
  /** Names of problems that do not stop `--apply`, with commas between them; `all`. */
  accept?: string | undefined
  /** Which side wins where both changed: `here` or `source`. */
  conflicts?: string | undefined
  /** Ends a move: nothing more is taken over. */
  finish?: boolean | undefined
  /** Every index is built while rows are written; PostgreSQL. */
  concurrently?: boolean | undefined
  /** File for the report of a move as HTML. */
  html?: string | undefined
}
/** What an adapter that can migrate offers: `sqlAdapter()` does. */
export interface Migrates {
  /** Statements that bring the database up to date; they are run when `apply` is true. */
  migrate(options: { apply: boolean; concurrently: boolean }): Promise<{ statements: readonly string[]; notes?: readonly string[] }>
  /** What a statement locks, in words. */
  lockOf?(statement: string): string
}

/** What `betterAuthCompatPlugin` puts on `auth`. */
interface TakesOver {
  takeOver(
    options: MoveOptions & { apply: boolean; onProgress?: (rows: number, stage: 'look' | 'write', total: number) => void },
  ): Promise<ImportReport & { users: number; sessions: number }>
}
interface MoveOptions {
  accept: readonly string[]
  conflicts?: 'here' | 'source'
}

/** Throws UsageError when the app's adapter has nothing to migrate. */
export async function migrate(options: MigrateOptions, setting: Setting): Promise<Report> {
  const { auth, file, module } = await loadModule(options, setting)
  const other = findMover(auth, options, file, setting)
  const moveOptions = readMoveOptions(options)
  if (options.finish === true) return finishMove(auth, { ...options, ...moveOptions }, setting)
  const { store, config, services } = (await lookInside(auth, 'https://your-app.example')).app
  const adapter = [adapterOf(store), config.adapter, module['adapter']].find(canMigrate)
  // What an adapter keeps for plugins is in its own migration.
  const own = (adapter as { records?: unknown } | undefined)?.records === services.records
  const parts = [adapter, own ? undefined : services.records, sessionStoreOf(store)].filter(canMigrate)
  if (parts.length === 0) {
    throw new UsageError(
      `${file} has no adapter that migrates: give sqlAdapter() to createAuth as \`adapter\`, use it with adapterPlugin(), or export it as \`adapter\`. Other stores have no tables.`,
    )
  }
  const move = async (apply: boolean) =>
    options.from === undefined
      ? undefined
      : other!
          .takeOver({ ...moveOptions, apply, accept: apply ? [...moveOptions.accept, 'all'] : moveOptions.accept })
          .catch((error: unknown) => {
            throw new UsageError(`${options.from} could not be taken over: ${reasonOf(error)}`)
          })
  // Before any table is made: a move that is refused changes nothing. What stops none is not asked again.
  const planned = options.apply === true ? await move(false) : undefined
  const over = planned?.problems.find(({ name }) => name === 'finished')
  if (over) throw new UsageError(over.message)
  const apply = options.apply === true && (planned?.refused ?? []).length === 0
  const [statements, locks, notes]: [string[], (string | null)[], string[]] = [[], [], []]
  for (const part of parts) {
    const done = await part.migrate({ apply, concurrently: options.concurrently === true }).catch((error: unknown) => {
      throw new UsageError(`The database of ${file} could not be ${apply ? 'migrated' : 'read'}: ${reasonOf(error)}`)
    })
    const fresh = done.statements.filter((statement) => !statements.includes(statement))
    statements.push(...fresh)
    locks.push(...fresh.map((statement) => part.lockOf?.(statement) ?? null))
    notes.push(...(done.notes ?? []))
  }
  const taken = apply || !planned ? await move(apply) : planned
  await auth.close()
  const { good, faint, warn } = setting.paint
  const said = notes.map((note) => `${warn('note')} ${note}`)
  const facts = statements.map((statement, at) => `${statement};${locks[at] == null ? '' : faint(` -- ${locks[at]}`)}`)
  const last = apply
    ? good(`${statements.length} statements were run.`)
    : faint('Nothing was changed. `authkernel migrate --apply` does it.')
  if (!taken)
    return {
      data: { file, statements, locks, notes, applied: apply },
      // They must be looked at first.
      ok: notes.length === 0,
      lines:
        statements.length === 0
          ? [...said, notes.length === 0 ? good('The database is up to date.') : 'There is nothing else to do.']
          : [...facts, '', ...said, last],
    }
  const command = `npx authkernel migrate --from ${options.from}${options.file === undefined ? '' : ` --file ${options.file}`}`
  if (options.html !== undefined) await writeFile(resolve(setting.cwd, options.html), drawMove(taken, command, other!.describe(taken)))
  return {
    data: { file, statements, locks, notes, from: taken, applied: taken.applied },
    ok: notes.length === 0 && taken.refused.length === 0,
    lines: [...facts, '', ...other!.describe(taken), ...said, ...describeMove(taken, command, setting.paint)],
  }
}

/** What takes over from the product that `--from` names. Throws UsageError where the app lacks its plugin. */
function findMover(auth: Auth, { from, file: files }: MigrateOptions, file: string, setting: Setting): Mover | undefined {
  if (from === undefined) return undefined
  if (from !== 'better-auth') return openImport(auth, { from, file, files }, setting)
  const { betterAuth } = auth as { betterAuth?: TakesOver }
  if (!betterAuth)
    throw new UsageError(`${file} does not use betterAuthCompatPlugin({ db }): add it, so that the tables of better-auth can be read.`)
  if (files !== undefined)
    throw new UsageError('--file belongs to services such as clerk: the tables of better-auth are read from its database.')
  const describe = ({ users, sessions }: Awaited<ReturnType<TakesOver['takeOver']>>): string[] => [
    `${users} users and ${sessions} sessions are read where they are.`,
  ]
  const progress = createProgress(setting)
  return {
    describe: describe as Mover['describe'],
    takeOver: (options) =>
      betterAuth
        .takeOver({
          ...options,
          onProgress: (rows, stage, total) => progress.show({ rows, stage, share: total > 0 ? rows / total : undefined }),
        })
        .finally(() => progress.end()),
  }
}

function readMoveOptions({ from, file, accept = '', conflicts, html }: MigrateOptions): MoveOptions {
  if (from === undefined && (accept !== '' || conflicts !== undefined || html !== undefined || file !== undefined))
    throw new UsageError('--file, --accept, --conflicts and --html belong to a move: give --from.')
  if (conflicts !== undefined && conflicts !== 'here' && conflicts !== 'source')
    throw new UsageError(`--conflicts is here or source, and not ${JSON.stringify(conflicts)}.`)
  const names = accept.split(',').map((name) => name.trim())
  return { accept: names.filter((name) => name !== ''), ...(conflicts !== undefined && { conflicts }) }
}

// Where a name has several addresses, Node's error is a list without a text of its own.
function reasonOf(error: unknown): string {
  const { message, errors } = error as { message?: string; errors?: readonly Error[] }
  return message || errors?.map((each) => each.message).join(', ') || String(error)
}

function canMigrate(value: unknown): value is Migrates {
  return typeof (value as Partial<Migrates> | null | undefined)?.migrate === 'function'
}
