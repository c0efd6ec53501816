/** The audit log for administrators: pages, files and the check of the chain. */
import { type AnyContext, HttpError } from 'authkernel/kernel'
import type { AuditPage, AuditQuery, AuditRecord, AuditVerification } from 'authkernel/plugins/audit'

/** Formats of a file: a JSON object in a line, or CSV (RFC 4180). */
export type AuditFormat = 'jsonl' | 'csv'
/** Which records, as a page shows them. */
export interface AuditSearch extends AuditQuery {
  /** Default: any. */
  outcome?: AuditRecord['outcome'] | undefined
}
type Log = NonNullable<AnyContext['app']['services']['auditLog']>

/** Pages that a filter by outcome looks at, at most; then the page is short and has a cursor. */
const mostPages = 10

/** One page, newest first. Throws HttpError 409 without auditPlugin and `recordsSink()`, 400 for a filter that is wrong. */
export async function readAudit(ctx: AnyContext, search: AuditSearch): Promise<AuditPage> {
  const { outcome, ...query } = checkSearch(search)
  const log = logOf(ctx)
  const limit = query.limit ?? 100
  const records: AuditRecord[] = []
  const altered: string[] = []
  let { cursor } = query
  for (let at = 0; at < mostPages; at++) {
    const page = await log.list(ctx, { ...query, limit: limit - records.length, cursor })
    records.push(...page.records.filter((record) => outcome === undefined || record.outcome === outcome))
    altered.push(...(page.altered ?? []))
    cursor = page.cursor
    if (cursor === undefined || records.length >= limit) break
  }
  return { records, cursor, ...(altered.length > 0 && { altered }) }
}

/** All records that fit, as chunks of a file. */
export async function* exportAudit(ctx: AnyContext, search: AuditSearch, format: AuditFormat): AsyncGenerator<string> {
  if (format === 'csv') yield `${columns.map(([name]) => name).join(',')}\r\n`
  let cursor: string | undefined
  do {
    const page = await readAudit(ctx, { ...search, limit: 500, cursor })
    yield page.records.map((record) => (format === 'csv' ? toCsvLine(record) : `${JSON.stringify(record)}\n`)).join('')
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** Whether the chains are whole. Throws HttpError 409 without a log that can be read. */
export async function verifyAudit(ctx: AnyContext): Promise<AuditVerification> {
  return logOf(ctx).verify(ctx)
}

/** Throws HttpError 400 that names the format. */
export function checkFormat(format: unknown): AuditFormat {
  if (format === 'jsonl' || format === 'csv') return format
  throw new HttpError(400, 'admin.exportAudit: `format` must be "jsonl" or "csv".')
}

const columns: readonly (readonly [string, (record: AuditRecord) => unknown])[] = [
  ['id', ({ id }) => id],
  ['time', ({ time }) => new Date(time).toISOString()],
  ['name', ({ name }) => name],
  ['outcome', ({ outcome }) => outcome],
  ['reason', ({ reason }) => reason],
  ['actorType', ({ actor }) => actor.type],
  ['actorId', ({ actor }) => actor.id],
  ['impersonator', ({ actor }) => actor.impersonator],
  ['subjectType', ({ subject }) => subject?.type],
  ['subjectId', ({ subject }) => subject?.id],
  ['provider', ({ provider }) => provider],
  ['address', ({ address }) => address],
  ['userAgent', ({ userAgent }) => userAgent],
  ['requestId', ({ requestId }) => requestId],
  ['target', ({ target }) => target && JSON.stringify(target)],
]

function toCsvLine(record: AuditRecord): string {
  return `${columns.map(([, read]) => toCell(read(record))).join(',')}\r\n`
}

/** A spreadsheet runs a cell that begins like a formula: an apostrophe makes it a text. */
function toCell(value: unknown): string {
  const text = value === undefined || value === null ? '' : String(value)
  const safe = /^[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}

function logOf(ctx: AnyContext): Log {
  const log = ctx.app.services.auditLog
  if (!log) throw new HttpError(409, 'admin.listAudit: there is no audit log to read. Use auditPlugin with recordsSink().')
  return log
}

function checkSearch({ userId, name, since, until, outcome, limit, cursor }: AuditSearch): AuditSearch {
  const wrong = (rule: string): HttpError => new HttpError(400, `admin.listAudit: ${rule}.`)
  for (const text of [userId, name, cursor])
    if (text !== undefined && (typeof text !== 'string' || text.length > 2000 || text.includes('\0')))
      throw wrong('`userId`, `name` and `cursor` must be texts')
  for (const date of [since, until])
    if (date !== undefined && !(date instanceof Date && Number.isFinite(date.getTime()))) throw wrong('`since` and `until` must be dates')
  if (outcome !== undefined && !['success', 'failure', 'denied'].includes(outcome))
    throw wrong('`outcome` must be "success", "failure" or "denied"')
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1 || limit > 1000))
    throw wrong('`limit` must be a whole number from 1 to 1000')
  const given = { userId, name, since, until, outcome, limit, cursor }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== '')) as AuditSearch
}
