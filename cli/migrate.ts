/** `authkernel migrate`: shows what the tables of the app's database lack, and adds it when told to. Nothing is ever dropped. */
import { loadModule } from './load.ts'
import { type Report, UsageError, type Setting } from './report.ts'
import { lookInside } from './snapshot.ts'

/** Options of the command. */
export interface MigrateOptions {
  auth?: string | undefined
  env?: string | undefined
  apply?: boolean | undefined
}
/** What an adapter that can migrate offers: `sqlAdapter()` does. */
export interface Migrates {
  /** Statements that bring the database up to date; they are run when `apply` is true. */
  migrate(options: { apply: boolean }): Promise<{ statements: readonly string[]; notes?: readonly string[] }>
}

/** Throws UsageError when the app's adapter has nothing to migrate. */
export async function migrate(options: MigrateOptions, setting: Setting): Promise<Report> {
  const { auth, file, module } = await loadModule(options, setting)
  const configured = (await lookInside(auth, 'https://your-app.example')).app.config.adapter
  const adapter = [configured, module['adapter']].find(canMigrate)
  if (!adapter) {
    throw new UsageError(
      `${file} has no adapter that migrates: give sqlAdapter() to createAuth as \`adapter\`, or export it as \`adapter\`. Other stores have no tables.`,
    )
  }
  const apply = options.apply === true
  const { statements, notes = [] } = await adapter.migrate({ apply })
  await auth.close()
  const { good, faint, warn } = setting.paint
  const said = notes.map((note) => `${warn('note')} ${note}`)
  const last = apply
    ? good(`${statements.length} statements were run.`)
    : faint('Nothing was changed. `authkernel migrate --apply` runs these statements.')
  return {
    data: { file, statements, notes, applied: apply },
    lines:
      statements.length === 0
        ? [...said, good('The database is up to date.')]
        : [...statements.map((statement) => `${statement};`), '', ...said, last],
  }
}

function canMigrate(value: unknown): value is Migrates {
  return typeof (value as Partial<Migrates> | null | undefined)?.migrate === 'function'
}
