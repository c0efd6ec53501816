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
  anchor?: string | undefined
  tenant?: string | undefined
}
interface Verification {
  ok: boolean
  records: number
  chains: number
  faults: readonly string[]
}
interface WithAudit {
  audit?: { verify(what: { lines?: string; anchors?: unknown[]; tenant?: string | null }): Promise<Verification> }
}

export async function audit({ action, auth, env, file, anchor, tenant }: AuditCommandOptions, setting: Setting): Promise<Report> {
  if (action !== 'verify') throw new UsageError(`There is no "authkernel audit ${action ?? ''}". Write \`authkernel audit verify\`.`)
  const loaded = await loadModule({ auth, env }, setting)
  try {
    const { audit: log } = loaded.auth as WithAudit
    if (typeof log?.verify !== 'function') throw new UsageError(`${loaded.file} does not use auditPlugin.`)
    const lines = file === undefined ? {} : { lines: readArgumentFile(file, '--file', setting) }
    const anchors = anchor === undefined ? {} : { anchors: readAnchors(anchor, setting) }
    const found = await log.verify({ ...lines, ...anchors, ...(tenant !== undefined && { tenant: tenant === '' ? null : tenant }) })
    const { good, bad } = setting.paint
    const summary = `${found.records} records in ${found.chains} chains`
    const report = found.ok ? [`${good('ok')} ${summary}`] : [...found.faults.map((fault) => `${bad('fault')} ${fault}`), summary]
    return { ok: found.ok, data: { ...found }, lines: report }
  } finally {
    await loaded.auth.close()
  }
}

/** One anchor in each line. Nothing is compared by halves: a line that is none ends the command. */
function readAnchors(file: string, setting: Setting): unknown[] {
  const anchors = readArgumentFile(file, '--anchor', setting)
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [anchorOf(line, `Line ${index + 1} of ${file}`)]))
  if (anchors.length > 0) return anchors
  throw new UsageError(`${file} has no anchor. Write what \`anchor\` of auditPlugin gets to it, one JSON object a line.`)
}

function anchorOf(line: string, where: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new UsageError(`${where} is no JSON. Each line of the file of --anchor is one JSON object, as \`anchor\` of auditPlugin gets it.`)
  }
  const missing = ['chainId', 'tenant', 'seq', 'mac', 'time'].filter((name) => !Object.hasOwn(Object(value) as object, name))
  if (missing.length === 0) return value
  throw new UsageError(`${where} is no anchor: it has no ${missing.join(', ')}. Keep the whole object that \`anchor\` of auditPlugin gets.`)
}

function readArgumentFile(file: string, flag: string, { cwd }: Setting): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8')
  } catch (error) {
    throw new UsageError(`The file of ${flag} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
