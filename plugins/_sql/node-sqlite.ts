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

/** A Kysely dialect for `new Kysely({ dialect: nodeSqliteDialect(new DatabaseSync('auth.db', { timeout: 100 })) })`. */
export function nodeSqliteDialect(database: NodeSqliteDatabase): Dialect {
  return new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(statement) {
        const prepared = database.prepare(statement)
        return {
          reader: prepared.columns().length > 0,
          all: (parameters: readonly unknown[]) => prepared.all(...(parameters as never[])),
          run: (parameters: readonly unknown[]) => prepared.run(...(parameters as never[])),
          iterate() {
            throw new Error('[sql] node:sqlite does not stream here.')
          },
        }
      },
    } satisfies SqliteDatabase,
  })
}
