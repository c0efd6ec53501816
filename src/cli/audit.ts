/** `authkernel audit verify`: whether the records of the audit log are all there and as they were written. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadModule } from './load.ts'
import { type Report, type Setting, UsageError } from './report.ts'

/** Options of the command. */
export interface AuditCommandOptions {
  action?: string | undefined
  auth?: string | undefined
  env?: string | undefined
  file?: string | undefined
  tenant?: string | undefined
}
interface Verification {
  ok: boolean
  records: number
  chains: number
  faults: readonly string[]
}
interface WithAudit {
  audit?: { verify(what: { lines?: string; tenant?: string | null }): Promise<Verification> }
}

export async function audit({ action, auth, env, file, tenant }: AuditCommandOptions, setting: Setting): Promise<Report> {
  if (action !== 'verify') throw new UsageError(`There is no "authkernel audit ${action ?? ''}". Write \`authkernel audit verify\`.`)
  const loaded = await loadModule({ auth, env }, setting)
  try {
    const { audit: log } = loaded.auth as WithAudit
    if (typeof log?.verify !== 'function') throw new UsageError(`${loaded.file} does not use auditPlugin.`)
    const lines = file === undefined ? {} : { lines: readFileSync(resolve(setting.cwd, file), 'utf8') }
    const found = await log.verify({ ...lines, ...(tenant !== undefined && { tenant: tenant === '' ? null : tenant }) })
    const { good, bad } = setting.paint
    const summary = `${found.records} records in ${found.chains} chains`
    const told = found.ok ? [`${good('ok')} ${summary}`] : [...found.faults.map((fault) => `${bad('fault')} ${fault}`), summary]
    return { ok: found.ok, data: { ...found }, lines: told }
  } finally {
    await loaded.auth.close()
  }
}
