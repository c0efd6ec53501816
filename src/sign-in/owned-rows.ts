/** The rows of all plugins that belong to one user, as the user may see them. */
import type { AnyContext } from '../contract/context.ts'
import type { Row } from '../contract/records.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { listRows } from '../store/record-pages.ts'

/**
 * Rows of every record that names an owner (`RecordSpec.owner`), by the name of the record; records without a row are left out. Fields that are encrypted at rest
 * or marked as `secret` are left out, and ids that a plugin chose, which may be hashes of secrets. Empty without the service `records`.
 */
export async function listOwnedRows(ctx: AnyContext, userId: string): Promise<Record<string, Row<Record<string, unknown>>[]>> {
  const owned: Record<string, Row<Record<string, unknown>>[]> = {}
  if (!ctx.app.services.records) return owned
  for (const { spec, stored, fields } of (ctx as KernelContext).compiled.records.values()) {
    if (stored.owner === undefined) continue
    const hidden = [...fields].filter(([, { sealed, secret }]) => sealed || secret).map(([field]) => field)
    if (spec.id === 'given') hidden.push('id')
    const rows = await listRows(ctx.records(stored.name), { where: { [stored.owner]: userId } })
    if (rows.length > 0) owned[stored.name] = rows.map((row) => without(row, hidden))
  }
  return owned
}

function without(row: Row<Record<string, unknown>>, hidden: readonly string[]): Row<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).filter(([field]) => !hidden.includes(field))) as Row<Record<string, unknown>>
}
