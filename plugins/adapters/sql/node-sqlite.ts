/** Kysely over `node:sqlite`, the SQLite of Node 22 and later. */
import { type Dialect, type SqliteDatabase, SqliteDialect } from 'kysely'

/** The part of a `DatabaseSync` that is used. */
export interface NodeSqliteDatabase {
  prepare(statement: string): NodeSqliteStatement
  close(): void
}
interface NodeSqliteStatement {
  all(...parameters: never[]): unknown[]
  run(...parameters: never[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  columns(): unknown[]
}

// Milliseconds that a statement waits for a file that another process writes.
const busyTimeout = 500
// More than an adapter has.
const limit = 500

/**
 * A Kysely dialect for `new Kysely({ dialect: nodeSqliteDialect(new DatabaseSync('auth.db')) })`. Statements are prepared once. A database
 * without a `timeout` of its own gets one of 500 ms.
 */
export function nodeSqliteDialect(database: NodeSqliteDatabase): Dialect {
  const [busy] = database.prepare('pragma busy_timeout').all() as { timeout?: number }[]
  if (busy?.timeout === 0) database.prepare(`pragma busy_timeout = ${busyTimeout}`).all()
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(text) {
        let statement = prepared.get(text)
        if (!statement) {
          if (prepared.size >= limit) prepared.clear()
          prepared.set(text, (statement = prepare(database, text)))
        }
        return statement
      },
    } satisfies SqliteDatabase,
  })
}

function prepare(database: NodeSqliteDatabase, text: string): ReturnType<SqliteDatabase['prepare']> {
  const statement = database.prepare(text)
  return {
    reader: statement.columns().length > 0,
    all: (parameters: readonly unknown[]) => statement.all(...(parameters as never[])),
    run: (parameters: readonly unknown[]) => statement.run(...(parameters as never[])),
    iterate() {
      throw new Error('[sql] node:sqlite does not stream here.')
    },
  }
}
