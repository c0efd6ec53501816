/** Lists of users from a replica, while it lags no more than the host allows. Everything that a sign-in or an ending rests on is read from the primary. */
import { type Adapter, AuthError } from 'authkernel/kernel'
import { sql } from 'kysely'
import { type Database, openDatabase, type SqlOptions } from './database.ts'
import type { SqlDatabase } from './types.ts'

/** Operations that a replica answers. */
type Lists = Pick<Required<Adapter>, 'listUsers' | 'searchUsers'>

/** What `readFromReplica` needs. */
export interface ReplicaOptions {
  /** Seconds; undefined: the lag is not looked at. */
  maxLag: number | undefined
  now: () => number
  /** Makes the operations over one database. */
  create(database: Database): Lists
}

// The lag is looked at once in so many milliseconds.
const lagAge = 1_000

/** Throws AuthError for `maxLag` with another database than PostgreSQL, and for one that is no number of seconds. */
export function readFromReplica(
  primary: Lists & Pick<Required<Adapter>, 'close'>,
  replica: SqlDatabase,
  given: SqlOptions,
  { maxLag, now, create }: ReplicaOptions,
): Lists & Pick<Required<Adapter>, 'close'> {
  const { pool: _primary, migrate: _never, ...options } = given
  const database = openDatabase(replica, options)
  if (maxLag !== undefined && !(maxLag > 0)) throw new AuthError('sqlAdapter: `maxLag` must be a number of seconds above 0.')
  if (maxLag !== undefined && database.dialect !== 'postgres')
    throw new AuthError('sqlAdapter: `maxLag` needs PostgreSQL, which tells how far a replica is behind. Leave it out.')
  const copies = create(database)
  let known: { at: number; isFresh: Promise<boolean> } | undefined
  const isFresh = (): Promise<boolean> => {
    if (maxLag === undefined) return Promise.resolve(true)
    if (!known || now() - known.at >= lagAge) known = { at: now(), isFresh: readLag(database).then((lag) => lag <= maxLag) }
    return known.isFresh
  }
  async function read<T>(fromCopy: () => T | PromiseLike<T>, fromPrimary: () => T | PromiseLike<T>): Promise<T> {
    try {
      if (await isFresh()) return await fromCopy()
    } catch {
      // A replica that is away, or that lacks a table yet, is no reason to fail.
    }
    return fromPrimary()
  }
  return {
    listUsers: (query) =>
      read(
        () => copies.listUsers(query),
        () => primary.listUsers(query),
      ),
    searchUsers: (query) =>
      read(
        () => copies.searchUsers(query),
        () => primary.searchUsers(query),
      ),
    async close() {
      await Promise.all([primary.close(), database.close()])
    },
  }
}

/**
 * Seconds since the last transaction that the replica has replayed; 0 on a primary. Where the primary writes nothing it grows although the replica misses nothing: the
 * primary answers then, which has the time.
 */
async function readLag({ db }: Database): Promise<number> {
  const { rows } = await sql<{ lag: unknown }>`
    select case when pg_is_in_recovery() then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) else 0 end as lag`.execute(
    db,
  )
  const [row] = rows
  return row?.lag === null || row === undefined ? Number.POSITIVE_INFINITY : Number(row.lag)
}
