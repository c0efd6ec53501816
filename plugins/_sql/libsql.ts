/** Kysely over libsql: SQLite in a file, without anything to compile. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

/** The part of a `@libsql/client` that is used. */
export interface LibsqlClient {
  execute(statement: { sql: string; args: never[] }): Promise<LibsqlResult>
  transaction(mode: 'write'): Promise<LibsqlTransaction>
  close(): void
  readonly protocol?: string
}
interface LibsqlTransaction {
  execute(statement: { sql: string; args: never[] }): Promise<LibsqlResult>
  commit(): Promise<void>
  rollback(): Promise<void>
}
interface LibsqlResult {
  columns: string[]
  rows: ArrayLike<unknown>[]
  rowsAffected: number
}

/** Where the database is. */
export interface LibsqlOptions {
  /** `file:auth.db`, or an address of a libsql server. */
  url?: string
  authToken?: string
  /** A client of the host's own, in place of `url`. Make it with a `timeout`: without one, a file that another process writes fails at once. */
  client?: LibsqlClient
}

// A waiting libsql blocks the whole process: it waits a little, and the adapter tries again without blocking.
const busyTimeout = 250

/** A Kysely dialect for `new Kysely({ dialect: libsqlDialect({ url: 'file:auth.db' }) })`. */
export function libsqlDialect(options: LibsqlOptions): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

interface Connection extends DatabaseConnection {
  transaction: LibsqlTransaction | undefined
}

function createDriver(options: LibsqlOptions): Driver {
  let client: LibsqlClient
  // A write beside an open transaction fails at once with SQLITE_BUSY: one after the other.
  let last: Promise<unknown> = Promise.resolve()
  const releases = new WeakMap<object, () => void>()
  return {
    async init() {
      client = options.client ?? (await connect(options))
    },
    async acquireConnection() {
      const connection = createConnection(() => client)
      const before = last
      last = new Promise<void>((resolve) => releases.set(connection, resolve))
      await before
      return connection
    },
    // `begin` as a statement forms no transaction here: every statement may run on another connection.
    async beginTransaction(connection) {
      ;(connection as Connection).transaction = await client.transaction('write')
    },
    commitTransaction: (connection) => end(connection as Connection, 'commit'),
    rollbackTransaction: (connection) => end(connection as Connection, 'rollback'),
    savepoint: (connection, name) => run(connection, `savepoint "${name}"`),
    rollbackToSavepoint: (connection, name) => run(connection, `rollback to "${name}"`),
    releaseSavepoint: (connection, name) => run(connection, `release "${name}"`),
    async releaseConnection(connection) {
      releases.get(connection)?.()
    },
    async destroy() {
      client?.close()
    },
  }
}

async function connect({ url, authToken }: LibsqlOptions): Promise<LibsqlClient> {
  if (url === undefined) throw new Error('[sql] libsqlDialect needs a url or a client.')
  const { createClient } = await import('@libsql/client')
  return createClient({ url, timeout: busyTimeout, ...(authToken !== undefined && { authToken }) }) as unknown as LibsqlClient
}

async function run(connection: DatabaseConnection, statement: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(statement))
}

async function end(connection: Connection, how: 'commit' | 'rollback'): Promise<void> {
  const { transaction } = connection
  await transaction?.[how]()
  connection.transaction = undefined
}

function createConnection(client: () => LibsqlClient): Connection {
  const connection: Connection = {
    transaction: undefined,
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const result = await (connection.transaction ?? client()).execute({ sql, args: parameters as never[] })
      const rows = result.rows.map((row) => Object.fromEntries(result.columns.map((name, index) => [name, row[index]])) as R)
      return { rows, numAffectedRows: BigInt(result.rowsAffected) }
    },
    // eslint-disable-next-line require-yield
    async *streamQuery() {
      throw new Error('[sql] libsql does not stream.')
    },
  }
  return connection
}
