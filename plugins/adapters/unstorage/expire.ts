/** Removes records that have ended, a few at a time: no lock is held for long, and memory does not grow with the number of records. */
import type { AdapterSession, CleanUpOptions, ExpiredRows, VerificationToken } from 'authkernel/kernel'
import type { Model } from './model.ts'
import type { Transaction } from './types.ts'

type Kind = 'session' | 'token' | 'once' | 'limit'
type Row = Partial<AdapterSession & VerificationToken>

// Records of one transaction.
const batchSize = 100
const counters = { session: 'sessions', token: 'tokens', once: 'once', limit: 'limit' } as const

/** Removes sessions, links and marks that ended before `now`, and counts them. */
export async function deleteExpired(
  model: Model,
  now: Date,
  { max = Number.POSITIVE_INFINITY, onProgress }: CleanUpOptions = {},
): Promise<ExpiredRows> {
  const { engine, keys } = model
  const counts: ExpiredRows = { sessions: 0, tokens: 0, once: 0, limit: 0 }
  let left = max
  for (const kind of ['session', 'token', 'once', 'limit'] as const) {
    for await (const page of engine.scan(keys.folder(kind))) {
      // Lists of what belongs to a user are kept with their records.
      const records = page.filter((path) => !/:by-(user-id|identifier):[^:]*$/.test(path))
      for (let at = 0; at < records.length && left > 0; at += batchSize) {
        const endedPaths = await endedOf(model, kind, records.slice(at, at + batchSize), now)
        if (endedPaths.length === 0) continue
        const count = await engine.transact((tx) => removeEnded(model, tx, kind, endedPaths.slice(0, left), now))
        counts[counters[kind]] += count
        left -= count
        onProgress?.({ ...counts })
      }
      if (left <= 0) return counts
    }
  }
  return counts
}

// Looked at without a lock first: most records live.
async function endedOf({ engine }: Model, kind: Kind, paths: readonly string[], now: Date): Promise<string[]> {
  const values = await Promise.all(paths.map((path) => engine.get({ path })))
  return paths.filter((_path, at) => hasEnded(kind, values[at], now))
}

function hasEnded(kind: Kind, value: unknown, now: Date): boolean {
  if (value === null || value === undefined) return false
  // Marks are the moment until which they count; attempts a list of these.
  if (kind === 'once') return typeof value === 'number' && value < now.getTime()
  if (kind === 'limit') return Array.isArray(value) && value.every((until) => typeof until === 'number' && until < now.getTime())
  const { expires } = value as Row
  return expires !== undefined && new Date(expires) < now
}

async function removeEnded(model: Model, tx: Transaction, kind: Kind, paths: readonly string[], now: Date): Promise<number> {
  const { keys } = model
  let count = 0
  for (const path of paths) {
    const row = (await tx.get({ path })) as Row | null
    // Extended meanwhile, or of a kind that another clean-up removes.
    if (!hasEnded(kind, row, now)) continue
    tx.remove({ path })
    count++
    if (kind === 'session' && row?.userId && row.sessionToken) await model.forget(tx, await keys.sessionsOf(row.userId), [row.sessionToken])
    else if (kind === 'token' && row?.identifier && row.token) await model.forget(tx, await keys.tokensOf(row.identifier), [row.token])
  }
  return count
}
