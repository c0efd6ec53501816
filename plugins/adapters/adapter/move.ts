/** Moves the sessions that an adapter has into the session store, ahead of their use. */
import { type Adapter, lazily, type SessionStore } from 'authkernel/kernel'

/** Sessions that were moved, and those that cannot be. */
export interface MoveReport {
  users: number
  moved: number
  /** Another process moves them at this moment, or was interrupted: a call half a minute later moves them. */
  pending: number
  /** Listed as hashes: each moves when its browser uses it. */
  hashed: number
}

// The adapter's plugin needs none of it.
const splitCode = /* @__PURE__ */ lazily(() => import('./split.ts'))

// Users of one page, and moves at once.
const pageSize = 500
const atOnce = 16

/**
 * Moves all sessions of all users. Ended at any moment, a later call goes on: what was moved is no longer there. `onProgress` is called after each page of
 * users. Throws TypeError for an adapter without `listUsers`.
 */
export async function moveAllSessions(
  adapter: Adapter,
  sessions: SessionStore,
  onProgress: (report: Readonly<MoveReport>) => void = () => {},
): Promise<MoveReport> {
  const { listUsers } = adapter
  if (!listUsers) throw new TypeError('The adapter has no `listUsers`. Sessions move when they are used.')
  const { moveSession, toSessionStore } = await splitCode()
  const former = toSessionStore(adapter)
  const report: MoveReport = { users: 0, moved: 0, pending: 0, hashed: 0 }
  for (let after: string | undefined; ;) {
    const users = await listUsers.call(adapter, { after, limit: pageSize })
    const listed = await runSome(users, async ({ id }) => former.listSessionsByUserId(id))
    await runSome(listed.flat(), async ({ sessionToken }) => {
      if (sessionToken.includes('sha256:')) report.hashed++
      else {
        const { session, isMoved } = await moveSession(former, sessions, sessionToken)
        if (isMoved) report.moved++
        else if (session) report.pending++
      }
    })
    report.users += users.length
    onProgress(report)
    after = users.at(-1)?.id
    if (users.length < pageSize || after === undefined) return report
  }
}

async function runSome<T, R>(values: readonly T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < values.length; at += atOnce) results.push(...(await Promise.all(values.slice(at, at + atOnce).map(work))))
  return results
}
