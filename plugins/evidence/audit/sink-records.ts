/** The log as a table of the service `records`: queryable, per tenant, with an end. */
import { assertOptions, type AnyContext, RecordConflict, type Row } from 'authkernel/kernel'
import { readRows } from 'authkernel/kernel/stores'
import { type AuditRecord, groupBy } from './record.ts'
import type { AuditSink } from './sink.ts'
import { type AuditHeadRow, auditHeadTable, type AuditRow, auditTable } from './tables.ts'

const day = 86_400_000
// A date that every database can hold.
const never = new Date(Date.UTC(9999, 0, 1))
// Dates are never before it: all rows, in the order of time.
const everything = { range: { at: { gte: new Date(0) } }, limit: 500 }

/** Keeps records in the table `audit`. `retention`: days; default 400. Ended rows go with the clean-up of the store. */
export function recordsSink(options: { retention?: number } = {}): AuditSink {
  assertOptions('recordsSink', options, { retention: true })
  const { retention = 400 } = options
  const untilOf = (time: number): Date => (Number.isFinite(retention) ? new Date(time + retention * day) : never)
  const rowOf = (record: AuditRecord): Row<AuditRow> => ({
    id: record.id,
    at: new Date(record.time),
    name: record.name,
    userId: auditUserId(record),
    chainId: record.chainId ?? '',
    seq: record.seq ?? 0,
    record,
    until: record.until === undefined ? untilOf(record.time) : new Date(record.until),
  })
  return {
    name: 'records',
    requires: ['records'],
    retention: Number.isFinite(retention) ? retention : undefined,
    until: (time) => untilOf(time).getTime(),
    setup(kernel) {
      kernel.records('audit', auditTable)
      kernel.records('auditHead', auditHeadTable)
    },
    async write(batch, contextOf) {
      for (const records of groupBy(batch, ({ tenant }) => tenant).values()) {
        const table = contextOf(records[0]!).records('audit')
        try {
          await table.createMany(records.map(rowOf))
        } catch (error) {
          if (!(error instanceof RecordConflict)) throw error
          // Some were written by a try whose answer was lost.
          for (const record of records) await table.put(rowOf(record))
        }
      }
    },
    async head(head, ctx) {
      await ctx.records('auditHead').put({ id: head.chainId, at: new Date(head.time), head, until: untilOf(head.time) })
    },
    async list(ctx, { userId, name, since, until, limit = 100, cursor }) {
      const range = { ...(since && { gte: since }), ...(until && { lt: until }) }
      const where = userId !== undefined ? { userId } : name !== undefined ? { name } : {}
      const { rows, cursor: next } = await ctx.records('audit').find({ where, range: { at: range }, order: 'desc', limit, cursor })
      const placed = rows.filter((row) => isPlaced(ctx, row, rowOf(row.record)))
      const altered = rows.filter((row) => !placed.includes(row)).map(({ id }) => id)
      const records = placed
        .map(({ record }) => record)
        .filter((record) => userId === undefined || name === undefined || record.name === name)
      return { records, cursor: next, ...(altered.length > 0 && { altered }) }
    },
    read: (ctx) => readAll(ctx, rowOf),
    async heads(ctx) {
      const heads: AuditHeadRow['head'][] = []
      for await (const { id, at, head } of readRows(ctx.records('auditHead'), everything))
        // A column that disagrees makes it no end.
        heads.push(id === head.chainId && at.getTime() === head.time ? head : { ...head, seal: '' })
      return heads
    },
    async replace(ctx, record, userId) {
      await ctx.records('audit').put({ ...rowOf(record), userId })
    },
  }
}

async function* readAll(ctx: AnyContext, rowOf: (record: AuditRecord) => Row<AuditRow>): AsyncGenerator<AuditRecord> {
  for await (const row of readRows(ctx.records('audit'), everything))
    // A record that cannot be found by what it says was changed, although its own text is right.
    yield row.record.mac === undefined || isPlaced(ctx, row, rowOf(row.record)) ? row.record : { ...row.record, mac: '' }
}

/** Whether the columns, by which rows are found and ended, say the same as the record, which the chain covers. */
function isPlaced(ctx: AnyContext, row: Row<AuditRow>, { id, at, name, userId, chainId, seq, until, record }: Row<AuditRow>): boolean {
  // Erased: listed under no user.
  const isListed = row.userId === userId || (row.userId === '' && /^~[\da-f]{64}$/.test(userId))
  // Records of former versions say nothing of their end.
  const isKept = record.until === undefined || row.until.getTime() === until.getTime()
  const isHere = row.id === id && record.tenant === ctx.facts.namespace
  return (
    isListed && isKept && isHere && row.at.getTime() === at.getTime() && row.name === name && row.chainId === chainId && row.seq === seq
  )
}

/** Id of the user that a record is listed under. */
export function auditUserId({ subject, actor }: AuditRecord): string {
  return (
    (subject?.type === 'user' ? subject.id : undefined) ?? (actor.type === 'user' || actor.type === 'admin' ? actor.id : undefined) ?? ''
  )
}
