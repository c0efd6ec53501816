/** Verification tokens of the SQL adapter. */
import type { Adapter, VerificationToken } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { isConflict, isConnectionLost } from './dialect.ts'
import { canExist, findRows, insertRow, matchFields, removeRows, rewriteRows } from './rows.ts'
import { columnOf, columnRef, tableRef } from './statements.ts'
import type { Table } from './types.ts'
import { selectColumns, toRecord, writeExpression } from './values.ts'

type Tokens = Pick<Required<Adapter>, 'createVerificationToken' | 'useVerificationToken' | 'deleteVerificationTokens'>
type Key = Pick<VerificationToken, 'identifier' | 'token'>

export function tokenMethods(database: Database): Tokens {
  const { db, repeat, table } = database
  return {
    async createVerificationToken(token) {
      const rows = await table('tokens')
      const key = { identifier: token.identifier, token: token.token }
      const isThere = async (): Promise<boolean> => (await findRows(database, db, rows, key)).length > 0
      await insertOnce(database, () => insertRow(database, db, rows, token, key), isThere)
      return token
    },
    async useVerificationToken({ identifier, token }) {
      const rows = await table('tokens')
      const key = { identifier, token }
      if (!canExist(rows, key)) return null
      // Moved to a name that only this call knows, then deleted: when the answer of the first step is lost, the row is found there.
      const mine = crypto.randomUUID()
      const used = { identifier: `used:${mine}`, token: mine }
      const found = await repeat(async (again) => {
        const moved = await moveToken(database, rows, key, used)
        return moved ?? (again ? ((await findRows<VerificationToken>(database, db, rows, used))[0] ?? null) : null)
      })
      if (!found) return null
      // Used either way; what stays is of no use and goes with the next `deleteExpired`.
      await repeat(() => removeRows(database, db, rows, used)).catch(() => {})
      return { ...found, ...key }
    },
    async deleteVerificationTokens(identifier) {
      const rows = await table('tokens')
      await repeat(() => removeRows(database, db, rows, { identifier }))
    },
  }
}

/** Gives the row another key and returns it, to one of several callers. */
async function moveToken(database: Database, rows: Table, from: Key, to: Key): Promise<VerificationToken | null> {
  const { db, dialect } = database
  const fields = ['identifier', 'token'] as const
  if (dialect === 'mysql') {
    // Many may read the row; the server counts it as changed for one of them.
    const [row] = await findRows<VerificationToken>(database, db, rows, from)
    return row && (await rewriteRows(database, db, rows, from, fields, to)) > 0 ? row : null
  }
  const { rows: moved } = await database.run(
    db,
    rows,
    'move',
    () => {
      const sets = fields.map((field) => sql`${columnRef(rows, field)} = ${writeExpression(dialect, columnOf(rows, field), `to.${field}`)}`)
      return sql`update ${tableRef(rows)} set ${sql.join(sets)} where ${matchFields(database, rows, fields)} returning ${selectColumns(rows)}`
    },
    { ...from, 'to.identifier': to.identifier, 'to.token': to.token },
  )
  return moved[0] ? toRecord<VerificationToken>(rows, moved[0]) : null
}

/** An insert that knows its row again: after a lost answer the row that stands in its way may be its own. */
export async function insertOnce(database: Database, insertRow: () => Promise<unknown>, isThere: () => Promise<boolean>): Promise<void> {
  await database.repeat(async (again) => {
    try {
      await insertRow()
    } catch (error) {
      if (!again || isConnectionLost(error) || !isConflict(error) || !(await isThere())) throw error
    }
  })
}
