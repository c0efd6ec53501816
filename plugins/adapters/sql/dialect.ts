/** What Kysely leaves to its users: which database this is, which of its errors pass by themselves, and how keys are compared exactly. */
import { MysqlAdapter, PostgresAdapter, sql, SqliteAdapter } from 'kysely'
import type { Slot } from './statements.ts'
import type { DialectName, SqlDatabase, SqlExpression } from './types.ts'

/** Dialect of a Kysely instance; throws for one that is not known. */
export function dialectOf(db: SqlDatabase, given?: DialectName): DialectName {
  if (given) return given
  const { adapter } = db.getExecutor() as { adapter: object }
  const name = adapter.constructor.name
  // By name too: the host may have a second copy of Kysely.
  if (adapter instanceof SqliteAdapter || /sqlite/i.test(name)) return 'sqlite'
  if (adapter instanceof MysqlAdapter || /mysql/i.test(name)) return 'mysql'
  if (adapter instanceof PostgresAdapter || /postgres/i.test(name)) return 'postgres'
  throw new Error(`[sql] The dialect behind ${name} is not known. Name it: sqlAdapter(db, { dialect: 'postgres' | 'mysql' | 'sqlite' }).`)
}

/**
 * A deadlock, a serialization failure or a busy database: the statement or transaction left nothing behind and may be tried again.
 * PostgreSQL: SQLSTATE class 40. MySQL: 1213 deadlock, 1020 record changed (MariaDB). SQLite: busy, locked.
 */
export function isTransient(error: unknown): boolean {
  const { code, errno, errcode } = error as { code?: unknown; errno?: unknown; errcode?: unknown }
  if (code === '40001' || errno === 1020 || isDeadlock(error)) return true
  // node:sqlite gives the number: 5 busy, 6 locked, with details in higher bits.
  if (typeof errcode === 'number') return [5, 6].includes(errcode & 0xff)
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code)
}

/** A deadlock: unlike a busy file and a lost race of serializable transactions, it is reported. */
export function isDeadlock(error: unknown): boolean {
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return code === '40P01' || errno === 1213
}

/**
 * The connection broke. It is not known whether the statement ran, so only statements that may run twice are tried again. PostgreSQL: SQLSTATE class 08, 57P01 and similar, and errors of `pg` without a code. MySQL: connection lost or killed. Both: errors of the socket.
 */
export function isConnectionLost(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && lostConnectionCodes.test(code)) return true
  return typeof message === 'string' && /connection (is )?(terminated|closed|ended|in closed state)|not queryable/i.test(message)
}
const lostConnectionCodes =
  /^(08|57P0[1-3]$|ECONN|EPIPE$|ETIMEDOUT$|EAI_AGAIN$|ENOTFOUND$|EHOST|ENET|PROTOCOL_CONNECTION_LOST$|ER_SERVER_SHUTDOWN$|ER_CONNECTION_KILLED$)/

/**
 * There is no server at the moment, or it takes no more connections: the next try finds the same, unless it waits. PostgreSQL: 57P03, 53300. MySQL: 1040.
 */
export function isAway(error: unknown): boolean {
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return (
    errno === 1040 || (typeof code === 'string' && /^(ECONNREFUSED|EAI_AGAIN|ENOTFOUND|EHOST\w+|ENET\w+|ETIMEDOUT|57P03|53300)$/.test(code))
  )
}

/**
 * The server takes no writes: it was the primary before a fail-over, and this connection still leads to it. Nothing was done. PostgreSQL: 25006.
 * MySQL: 1290 (also of other options), 1836, 1792.
 */
export function isReadOnly(error: unknown): boolean {
  const { code, errno, message } = error as { code?: unknown; errno?: unknown; message?: unknown }
  return code === '25006' || errno === 1836 || errno === 1792 || (errno === 1290 && /read[-_ ]only/i.test(String(message)))
}

/**
 * A unique index or a foreign key rejected the row. PostgreSQL: SQLSTATE class 23. MySQL: 1062, 1452. SQLite: constraint. Drivers over HTTP
 * hand on the text alone.
 */
export function isConflict(error: unknown): boolean {
  const { code, errno, errcode, message } = error as { code?: unknown; errno?: unknown; errcode?: unknown; message?: unknown }
  if (errno === 1062 || errno === 1452) return true
  if (typeof errcode === 'number') return (errcode & 0xff) === 19
  if (typeof code === 'string' && /^(23\d{3}$|SQLITE_CONSTRAINT)/.test(code)) return true
  return typeof message === 'string' && /constraint failed|unique constraint|duplicate (key|entry)/i.test(message)
}

/** A unique index rejected the row. PostgreSQL: 23505. MySQL: 1062. SQLite: 2067 unique, 1555 primary key. */
export function isTaken(error: unknown): boolean {
  const { code, errno, errcode, message } = error as { code?: unknown; errno?: unknown; errcode?: unknown; message?: unknown }
  if (code === '23505' || errno === 1062 || errcode === 2067 || errcode === 1555) return true
  return typeof message === 'string' && /unique constraint|duplicate (key|entry)/i.test(message)
}

/** `column = the value of that name`, letter by letter: many a MySQL collation takes `Ada`, `áda` and `ada ` for one. */
export function compareExactly(dialect: DialectName, column: SqlExpression, slot: Slot): SqlExpression {
  const value = sql`${slot}`
  if (dialect !== 'mysql') return sql`${column} = ${value}`
  // The first comparison finds the row by its index, the second looks at its bytes, whatever letters column and connection have.
  const bytes = (text: SqlExpression): SqlExpression => sql`cast(convert(${text} using utf8mb4) as binary)`
  return sql`${column} = ${value} and ${bytes(column)} = ${bytes(value)}`
}

/** A text that no column can hold: asking for it would be an error where "unknown" is the answer. */
export function isUnstorable(value: unknown): boolean {
  return typeof value === 'string' && (value.includes('\0') || value.length > 4_000)
}
