/** How long rows of plugins' records are kept: rules of the host app, carried out by each clean-up. */
import { type AnyContext, assertOptions, AuthError, type CompileView } from 'authkernel/kernel'
import { readRows } from 'authkernel/kernel/stores'

/** Rules by the name of the record. */
export type Retention = Readonly<Record<string, { readonly field: string; readonly days: number }>>

const day = 86_400_000

/** Throws AuthError that names the rule. */
export function readRetention(retention: Retention): Retention {
  for (const [name, rule] of Object.entries(retention)) {
    assertOptions('Plugin "cleanup"', rule, { field: true, days: true }, `retention.${name}`)
    const { field, days } = rule
    if (typeof field !== 'string') throw new AuthError(`cleanupPlugin: \`retention.${name}.field\` must be the name of a date field.`)
    if (!(Number.isInteger(days) && days >= 1 && days <= 36_500))
      throw new AuthError(`cleanupPlugin: \`retention.${name}.days\` must be a whole number from 1 to 36500.`)
  }
  return retention
}

/** Throws AuthError for a record that no plugin has, and for a field that is no date. */
export function checkRetention(retention: Retention, { records }: CompileView): void {
  for (const [name, { field }] of Object.entries(retention)) {
    const spec = records.get(name)
    if (!spec) throw new AuthError(`cleanupPlugin: \`retention.${name}\` names no record. There are ${[...records.keys()].join(', ')}.`)
    const fields: Readonly<Record<string, { type: string }>> = spec.fields
    if (fields[field]?.type !== 'date') {
      const dates = Object.keys(fields).filter((one) => fields[one]?.type === 'date')
      throw new AuthError(
        `cleanupPlugin: \`retention.${name}.field\` must be a date field of the record: ${dates.join(', ') || 'it has none'}.`,
      )
    }
  }
}

/** Deletes what is older than its rule allows, a row at a time in the order of ids, so that no index is needed. Answers how many rows of each record. */
export async function applyRetention(ctx: AnyContext, retention: Retention): Promise<Record<string, number>> {
  const removed: Record<string, number> = {}
  for (const [name, { field, days }] of Object.entries(retention)) {
    const oldest = ctx.now.getTime() - days * day
    const table = ctx.records(name)
    removed[name] = 0
    for await (const row of readRows(table)) {
      const since = row[field]
      if (since instanceof Date && since.getTime() < oldest && (await table.delete(row.id))) removed[name]++
    }
  }
  return removed
}
