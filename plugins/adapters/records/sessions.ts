/** Sessions as records of any store of records: another database, a key-value store, DynamoDB. */
import {
  type AdapterSession,
  assertOptions,
  RecordConflict,
  type RecordStore,
  type SessionStore,
  sha256,
  type StoredRow,
  type StoredWrite,
  toHex,
} from 'authkernel/kernel'
import {
  isOfGeneration,
  isReservation,
  longestCookie,
  newGeneration,
  newReservation,
  toListedForm,
  toListedName,
  toSessionName,
} from 'authkernel/kernel/stores'
import { fieldsOf, generationTable, sessionTable, toGeneration, toSession } from './session-rows.ts'

/** Options of `recordSessions`. */
export interface RecordSessionsOptions {
  /** Clock in milliseconds; default `Date.now`. */
  now?: () => number
  /**
   * One process uses the store, so a store without atomic commands may keep the sessions by itself. Default false: such a store, Cloudflare's KV for example,
   * holds copies only (`sessionFallback`).
   */
  singleProcess?: boolean
}

// Conflicting writes in a row. Each of them is the success of another call.
const mostTries = 100
// Rows of one page, and writes of one commit.
const pageSize = 500
const writesAtOnce = 20
// Of one statement that removes what has ended.
const expiredAtOnce = 1000
// A process that was interrupted holds the place of a session that moves for so long. Others read the adapter meanwhile.
const reservationSeconds = 30

/**
 * Keeps sessions in a store of records, for `adapterPlugin(adapter, { sessions })`: `recordSessions(sqlRecords(db))`, `recordSessions(unstorageRecords(storage))`.
 * Tokens are stored as SHA-256. All sessions of a user end by one write. `auth.close()` closes the store of records.
 */
export function recordSessions(records: RecordStore, options: RecordSessionsOptions = {}): SessionStore {
  assertOptions('recordSessions', options, { now: true, singleProcess: true })
  const { now = Date.now, singleProcess = false } = options
  records.define([sessionTable, generationTable])
  const tables = { session: sessionTable.name, generation: generationTable.name }
  const write = async (...writes: StoredWrite[]): Promise<readonly unknown[] | null> => records.write(writes, now())
  const readGeneration = async (userId: string): Promise<StoredRow | null> =>
    records.get(tables.generation, '', { id: await generationId(userId) }, now())

  /** A session that goes on, with its row and the generation of its user. */
  async function find(name: string): Promise<{ row: StoredRow; generation: StoredRow | null } | null> {
    const row = await records.get(tables.session, '', { id: name }, now())
    if (!row || isReservation(stampOf(row)) || (row['expires'] as Date).getTime() <= now()) return null
    const generation = await readGeneration(String(row['userId']))
    return isOfGeneration(toGeneration(generation), name, stampOf(row)) ? { row, generation } : null
  }

  /** A generation is kept as long as the sessions that it ended or began. Nothing is to be done for nearly all users. */
  function keepGeneration(generation: StoredRow | null, until: Date): StoredWrite[] {
    if (!generation || (generation['until'] as Date) >= until) return []
    const condition = { generation: generation['generation'] ?? null }
    return [{ op: 'update', table: tables.generation, ns: '', id: generation.id, change: { until }, if: condition }]
  }

  /** Rows of a user, those that were ended included. */
  async function listRows(userId: string): Promise<StoredRow[]> {
    const rows: StoredRow[] = []
    for (let after: { value: null; id: string } | undefined; ;) {
      const query = {
        ns: '',
        where: { userId },
        by: undefined,
        index: ['userId'],
        range: {},
        order: 'asc',
        limit: pageSize,
        after,
      } as const
      const page = await records.find(tables.session, query, now())
      rows.push(...page)
      const last = page.at(-1)
      if (page.length < pageSize || !last) return rows
      after = { value: null, id: last.id }
    }
  }

  async function removeRows(names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += writesAtOnce)
      await write(...names.slice(at, at + writesAtOnce).map((id): StoredWrite => ({ op: 'delete', table: tables.session, ns: '', id })))
  }

  /** Begins a generation. One that begins at the same moment is followed by this one. */
  async function beginGeneration(userId: string, kept: { session: string; stamp: string } | undefined, until: Date): Promise<string> {
    const [id, name] = [await generationId(userId), newGeneration()]
    for (let tries = 0; tries < mostTries; tries++) {
      const former = await readGeneration(userId)
      const goesOn = kept && isOfGeneration(toGeneration(former), kept.session, kept.stamp) ? kept : undefined
      const change = { generation: name, kept: goesOn?.session ?? null, keptStamp: goesOn?.stamp ?? null, until }
      try {
        const condition = { generation: former?.['generation'] ?? null }
        const done = former
          ? await write({ op: 'update', table: tables.generation, ns: '', id, change, if: condition })
          : await write({ op: 'create', table: tables.generation, row: { ns: '', id, ...change } })
        if (done) return name
      } catch (error) {
        if (!(error instanceof RecordConflict)) throw error
      }
    }
    throw new Error('[records] deleteSessionsByUserId: 100 conflicting writes in a row')
  }

  return {
    shared: records.shared || singleProcess,

    async createSession(session) {
      const { sessionToken, userId, expires } = session
      const id = await toSessionName(sessionToken)
      for (let tries = 0; tries < mostTries; tries++) {
        const generation = await readGeneration(userId)
        const row = { ns: '', id, userId, stamp: toGeneration(generation).name, ...fieldsOf(session), revision: 0, until: expires }
        const done = await write(...keepGeneration(generation, expires), { op: 'create', table: tables.session, row }).catch(
          (error: unknown) => {
            throw error instanceof RecordConflict
              ? new Error('[records] createSession: this session token is already taken', { cause: error })
              : error
          },
        )
        if (done) return session
      }
      throw new Error('[records] createSession: 100 conflicting writes in a row')
    },

    async getSession(sessionToken) {
      const found = await find(await toSessionName(sessionToken))
      return found && toSession(sessionToken, found.row)
    },

    async updateSession({ sessionToken, ...change }) {
      const name = await toSessionName(sessionToken)
      for (let tries = 0; tries < mostTries; tries++) {
        const found = await find(name)
        if (!found) return null
        const { row, generation } = found
        const before = toSession(sessionToken, row)
        const next: AdapterSession = { ...before, ...withoutUndefined(change), userId: before.userId, sessionToken }
        const fields = fieldsOf(next)
        const revision = Number(row['revision'])
        // Of two changes at the same moment both count: other columns are compared before they are replaced.
        const changesColumns = fields.columns !== row['columns']
        const done = await write(...keepGeneration(generation, next.expires), {
          op: 'update',
          table: tables.session,
          ns: '',
          id: name,
          change: {
            ...(change.expires && { expires: next.expires, until: next.expires }),
            ...(change.createdAt !== undefined && { created: fields.created }),
            ...(changesColumns && { columns: fields.columns, revision: revision + 1 }),
          },
          if: { stamp: stampOf(row), ...(changesColumns && { revision }) },
        })
        if (done) return toSession(sessionToken, done.at(-1) as StoredRow)
      }
      throw new Error('[records] updateSession: 100 conflicting writes in a row')
    },

    async deleteSession(sessionToken) {
      const name = await toListedName(sessionToken)
      // A reservation goes too: a copy that is on its way is not kept.
      const [row] = ((await write({ op: 'take', table: tables.session, ns: '', key: { id: name }, if: {} })) as StoredRow[] | null) ?? []
      if (!row || isReservation(stampOf(row))) return null
      const generation = toGeneration(await readGeneration(String(row['userId'])))
      return isOfGeneration(generation, name, stampOf(row)) ? toSession(sessionToken, row) : null
    },

    async deleteSessions(sessionTokens) {
      await removeRows(await Promise.all([...new Set(sessionTokens)].map(toListedName)))
    },

    async listSessionsByUserId(userId) {
      const [generation, rows] = await Promise.all([readGeneration(userId), listRows(userId)])
      return rows
        .filter((row) => !isReservation(stampOf(row)) && isOfGeneration(toGeneration(generation), row.id, stampOf(row)))
        .map((row) => toSession(toListedForm(row.id), row))
    },

    async deleteSessionsByUserId(userId, except) {
      const name = except && (await toListedName(except.sessionToken))
      const [found, rows] = await Promise.all([name === undefined ? null : find(name), listRows(userId)])
      const kept = name !== undefined && found?.row['userId'] === userId ? { session: name, stamp: stampOf(found.row) } : undefined
      const longest = Math.max(now() + longestCookie, ...rows.map((row) => (row['expires'] as Date).getTime()))
      // From here on the others are not found. What follows frees their space, and ends copies that are on their way.
      const begun = await beginGeneration(userId, kept, new Date(longest))
      await removeRows(rows.filter((row) => row.id !== name && stampOf(row) !== begun).map((row) => row.id))
    },

    async copyCurrent(session, read, { seconds, absent = false } = {}) {
      const id = await toSessionName(session.sessionToken)
      const reservation = newReservation()
      const until = new Date(now() + (seconds ?? reservationSeconds) * 1000)
      const place = { ns: '', id, userId: session.userId, stamp: reservation, ...fieldsOf(session), columns: null, revision: 0, until }
      // Before `read`: an ending after it begins another generation, or removes the reservation.
      const [generation, reserved] = await Promise.all([
        readGeneration(session.userId),
        write({ op: absent ? 'create' : 'put', table: tables.session, row: place }).catch((error: unknown) => {
          if (absent && error instanceof RecordConflict) return null
          throw error
        }),
      ])
      if (!reserved) return { session, isKept: false }
      const current = await read()
      if (!current) {
        await write({ op: 'take', table: tables.session, ns: '', key: { id }, if: { stamp: reservation } })
        return { session: current, isKept: false }
      }
      // A copy ends with its reservation: a process that pauses here does not lengthen it.
      const end = seconds === undefined ? current.expires : until
      const filled = await write(...keepGeneration(generation, end), {
        op: 'update',
        table: tables.session,
        ns: '',
        id,
        change: { stamp: toGeneration(generation).name, ...fieldsOf(current), until: end },
        if: { stamp: reservation },
      })
      return { session: current, isKept: filled !== null }
    },

    async deleteExpired(at, { max = Number.POSITIVE_INFINITY } = {}) {
      let removed = 0
      for (const table of [tables.session, tables.generation]) {
        while (removed < max) {
          const limit = Math.min(expiredAtOnce, max - removed)
          const count = await records.deleteExpired(table, at.getTime(), limit)
          if (table === tables.session) removed += count
          if (count < limit) break
        }
      }
      return removed
    },

    async findFaults() {
      const missing = (await records.missing?.()) ?? []
      return missing.map((name) => ({ name, remedy: 'Run `npx authkernel migrate --apply`.' }))
    },

    ...(records.migrate && { migrate: async (given: { apply: boolean }) => records.migrate!(given) }),

    async close() {
      await records.close?.()
    },
  }
}

function stampOf(row: StoredRow): string {
  return String(row['stamp'])
}

/** A key that says nothing of the user. */
async function generationId(userId: string): Promise<string> {
  return toHex(await sha256(userId))
}

function withoutUndefined<T extends object>(change: T): Partial<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>
}
