/** Kysely dialects of databases inside the process: `node:sqlite`, the SQLite of Node 22 and later, and PGlite, a PostgreSQL for tests. */
import { type Dialect, PostgresDialect, type PostgresPoolClient, type SqliteDatabase, SqliteDialect } from 'kysely'

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
const maxStatements = 500

/**
 * A Kysely dialect for `new Kysely({ dialect: nodeSqliteDialect(new DatabaseSync('auth.db')) })`. Statements are prepared once. A database
 * without a `timeout` gets one of 500 ms.
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
          if (prepared.size >= maxStatements) prepared.clear()
          prepared.set(text, (statement = prepareStatement(database, text)))
        }
        return statement
      },
    } satisfies SqliteDatabase,
  })
}

function prepareStatement(database: NodeSqliteDatabase, text: string): ReturnType<SqliteDatabase['prepare']> {
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

/** The part of a `PGlite` instance that is used. */
export interface PgliteClient {
  query(statement: string, parameters?: unknown[]): Promise<{ rows: unknown[]; affectedRows?: number | undefined }>
  close(): Promise<void>
}

/** A Kysely dialect for `new Kysely({ dialect: pgliteDialect(new PGlite('folder')) })`. */
export function pgliteDialect(client: PgliteClient): Dialect {
  // One connection: a statement beside an open transaction would be part of it.
  let last: Promise<unknown> = Promise.resolve()
  return new PostgresDialect({
    pool: {
      async connect() {
        const before = last
        let release = (): void => {}
        last = new Promise<void>((resolve) => (release = resolve))
        await before
        return {
          query: (statement: string, parameters: unknown[]) => runQuery(client, statement, parameters),
          release,
        } as PostgresPoolClient
      },
      end: () => client.close(),
    },
  })
}

async function runQuery(client: PgliteClient, statement: string, parameters: unknown[]): Promise<object> {
  const { rows, affectedRows } = await client.query(statement, parameters)
  return { rows, rowCount: affectedRows ?? rows.length, command: /^\s*(\w+)/.exec(statement)?.[1]?.toUpperCase() }
}
