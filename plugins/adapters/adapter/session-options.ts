/** Options for sessions in a store of their own, and what they need of the adapter. */
import { type Adapter, AuthError, type SessionStore } from 'authkernel/kernel'

/** Where sessions are kept. */
export interface SessionOptions {
  /** Sessions in a separate store, such as `redisSessions(redis)` or `recordSessions(sqlRecords(db))`. Default: the adapter keeps them. */
  sessions?: SessionStore | undefined
  /**
   * The adapter keeps the sessions too, and `sessions` has copies of at most `staleness` seconds. While `sessions` is out of reach, the adapter answers. A session
   * that was ended meanwhile is rejected at the latest `staleness` seconds after its end. Default: `sessions` alone has them.
   */
  sessionFallback?: { staleness: number } | undefined
  /** Sessions that the adapter has already go on, and move to `sessions` when they are used. Not together with `sessionFallback`. Default false. */
  moveSessions?: boolean | undefined
}

/** Methods of an adapter that keep sessions. */
export const sessionMethods = [
  'createSession',
  'getSessionAndUser',
  'updateSession',
  'deleteSession',
  'deleteSessions',
  'listSessionsByUserId',
  'deleteSessionsByUserId',
] as const

/** Throws AuthError for options that cannot be together, and for an adapter that lacks what they need. */
export function assertSessions(adapter: Adapter, { sessions, sessionFallback, moveSessions }: SessionOptions): void {
  const shared = sessionFallback ? 'sessionFallback' : moveSessions ? 'moveSessions' : undefined
  if (!sessions && shared) throw fault(`the option \`${shared}\` needs the option \`sessions\``)
  if (sessionFallback && moveSessions) throw fault('`sessionFallback` and `moveSessions` exclude each other. Leave one out')
  if (sessionFallback && !(sessionFallback.staleness > 0)) throw fault('`sessionFallback.staleness` must be a number of seconds above 0')
  if (sessions?.shared === false && !sessionFallback)
    throw fault(
      'the store of `sessions` has no atomic commands, so an ended session could come back. Add `sessionFallback`, or use a store on SQL, Redis or DynamoDB',
    )
  if (sessions && typeof adapter.getUser !== 'function') throw fault('the option `sessions` needs an adapter with `getUser`')
  const lacking = shared && sessionMethods.find((method) => method !== 'deleteSessions' && typeof adapter[method] !== 'function')
  if (lacking) throw fault(`the option \`${shared}\` needs an adapter with \`${lacking}\``)
}

function fault(what: string): AuthError {
  return new AuthError(`Plugin "adapter": ${what}.`)
}
