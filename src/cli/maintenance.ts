/** `authkernel cleanup` and `authkernel reseal`: what a host runs once a day, and after a change of secrets. */
import type { CleanUpReport } from 'authkernel/kernel'
import { loadModule } from './load.ts'
import { type Report, type Setting, table, UsageError } from './report.ts'

/** Options of both commands. */
export interface MaintenanceOptions {
  auth?: string | undefined
  env?: string | undefined
  tenant?: string | undefined
}

/** Removes expired rows in batches. */
export async function cleanup(options: MaintenanceOptions, setting: Setting): Promise<Report> {
  const { auth, file } = await loadModule(options, setting)
  const report = await auth
    .cleanup({ onProgress: (removed) => setting.progress(`${countAll(removed)} rows removed`) })
    .catch((error: unknown) => failWith(`The store of ${file} could not be cleaned up`, error))
  await auth.close()
  const { good, warn } = setting.paint
  if (!report) return { data: { file, busy: true }, lines: [warn('Another process is cleaning up. Nothing was done.')] }
  const { records, ...counts } = report
  const rows = [...Object.entries(counts), ...Object.entries(records).map(([name, count]) => [`record ${name}`, count] as const)]
  return {
    data: { file, removed: report },
    lines: [...table(rows.map(([name, count]) => [name, String(count)])), '', good(`${countAll(report)} rows were removed.`)],
  }
}

/** Seals the fields of records with the newest secret. Exit code 1 when some cannot be opened. */
export async function reseal(options: MaintenanceOptions, setting: Setting): Promise<Report> {
  const { auth, file } = await loadModule(options, setting)
  const report = await auth
    .reseal({
      ...(options.tenant !== undefined && { tenant: options.tenant }),
      onProgress: ({ resealed }) => setting.progress(`${resealed} rows sealed`),
    })
    .catch((error: unknown) => failWith(`The records of ${file} could not be sealed again`, error))
  await auth.close()
  const { resealed, unreadable } = report
  const { good, bad } = setting.paint
  return {
    data: { file, ...report },
    ok: unreadable === 0,
    lines: [
      good(`${resealed} rows are sealed with the newest secret.`),
      ...(unreadable > 0 ? [bad(`${unreadable} rows have a field that none of the secrets opens. They were left as they are.`)] : []),
    ],
  }
}

function countAll({ records, ...counts }: CleanUpReport): number {
  return [...Object.values(counts), ...Object.values(records)].reduce((all, count) => all + count, 0)
}

function failWith(what: string, error: unknown): never {
  const { message, cause } = error as { message?: string; cause?: { err?: Error } }
  throw new UsageError(`${what}: ${[message, cause?.err?.message].filter(Boolean).join(' ')}`)
}
