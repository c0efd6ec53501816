/** Kysely over libsql: SQLite in a file, without anything to compile. */
import { assertOptions } from 'authkernel/kernel'
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
import { isTransient } from './dialect.ts'

/** The part of a `@libsql/client` that is used. */
export interface LibsqlClient {
  execute(statement: LibsqlStatement): Promise<LibsqlResult>
  transaction(mode: 'write'): Promise<LibsqlTransaction>
  close(): void
  reconnect?(): unknown
  readonly protocol?: string
}
interface LibsqlStatement {
  sql: string
  args: never[]
}
interface LibsqlTransaction {
  execute(statement: LibsqlStatement): Promise<LibsqlResult>
  commit(): Promise<void>
  rollback(): Promise<void>
  close(): void
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
  /** Secret of a libsql server; not needed for a file. */
  authToken?: string
  /** Switches a file to write-ahead logging, for several processes; default true. Not for file systems of a network. */
  wal?: boolean
  /** A client of the host's own, instead of `url`. Make it with a `timeout`: without one, a file that another process writes fails at once. */
  client?: LibsqlClient
}

// Milliseconds of one try. A waiting libsql blocks the whole process; but one that does not wait, and tries again at once, takes the time
// that the holder of the lock needs to give it back, where there is little.
const busyTimeout = 500

// Milliseconds of all tries to begin; the queue of this process stands meanwhile, so that a caller that waited long does not begin again at its end.
const patience = 4_000

// Pragmas have transactions of their own.
const readsOnly = /^\s*(select|pragma|explain)\b/i

/** A Kysely dialect for `new Kysely({ dialect: libsqlDialect({ url: 'file:auth.db' }) })`. */
export function libsqlDialect(options: LibsqlOptions): Dialect {
  assertOptions('libsqlDialect', options, { url: true, authToken: true, wal: true, client: true })
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
  const end = async (connection: Connection, how: 'commit' | 'rollback'): Promise<void> => {
    const { transaction } = connection
    connection.transaction = undefined
    if (transaction) await reconnectWhenBusy(client, () => transaction[how]())
  }
  // A write beside an open transaction fails at once with SQLITE_BUSY: one after the other.
  let last: Promise<unknown> = Promise.resolve()
  const releases = new WeakMap<object, () => void>()
  return {
    async init() {
      client = options.client ?? (await openClient(options))
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
      ;(connection as Connection).transaction = await beginTransaction(client)
    },
    commitTransaction: (connection) => end(connection as Connection, 'commit'),
    rollbackTransaction: (connection) => end(connection as Connection, 'rollback'),
    savepoint: (connection, name) => runStatement(connection, `savepoint "${name}"`),
    rollbackToSavepoint: (connection, name) => runStatement(connection, `rollback to "${name}"`),
    releaseSavepoint: (connection, name) => runStatement(connection, `release "${name}"`),
    async releaseConnection(connection) {
      releases.get(connection)?.()
    },
    async destroy() {
      client?.close()
    },
  }
}

async function openClient({ url, authToken, wal = true }: LibsqlOptions): Promise<LibsqlClient> {
  if (url === undefined) throw new Error('[sql] libsqlDialect needs a url or a client.')
  const { createClient } = await import('@libsql/client')
  // The part of the client that is used: the library has more overloads than its callers here.
  const client = createClient({ url, timeout: busyTimeout, ...(authToken !== undefined && { authToken }) }) as unknown as LibsqlClient
  // Readers and a writer at once. It stays with the file; a later process finds it done.
  if (client.protocol === 'file' && wal)
    await reconnectWhenBusy(client, () => client.execute({ sql: 'pragma journal_mode = wal', args: [] })).catch(() => {})
  return client
}

async function runStatement(connection: DatabaseConnection, statement: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(statement))
}

/** A statement that fails as busy when it commits by itself is left half-run: writes commit separately. */
async function writeAlone(client: LibsqlClient, statement: LibsqlStatement): Promise<LibsqlResult> {
  const transaction = await beginTransaction(client)
  try {
    const result = await transaction.execute(statement)
    await transaction.commit()
    return result
  } finally {
    transaction.close()
  }
}

async function beginTransaction(client: LibsqlClient): Promise<LibsqlTransaction> {
  const end = Date.now() + patience
  for (;;) {
    try {
      return await reconnectWhenBusy(client, () => client.transaction('write'))
    } catch (error) {
      if (Date.now() > end || !isTransient(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10))
    }
  }
}

/** Runs `work`; a statement that was rejected as busy may still hold its lock, which only a new connection is free of. */
async function reconnectWhenBusy<T>(client: LibsqlClient, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isTransient(error) && client.protocol === 'file') client.reconnect?.()
    throw error
  }
}

function createConnection(client: () => LibsqlClient): Connection {
  const connection: Connection = {
    transaction: undefined,
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const statement = { sql, args: parameters as never[] }
      const result = connection.transaction
        ? await connection.transaction.execute(statement)
        : await reconnectWhenBusy(client(), () => (readsOnly.test(sql) ? client().execute(statement) : writeAlone(client(), statement)))
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
