/** One client and one watched session for everything on a page that was not given its own. */
import { createAuthClient } from './auth-client.ts'
import type { Client, ClientOptions } from './client.ts'
import type { SessionOptions, SessionStore } from './session.ts'

/** What components share: the client and its session. */
export interface PageClient {
  readonly client: Client
  readonly store: SessionStore
}
/** Options of a provider of the session. */
export interface SharedOptions extends ClientOptions, Omit<SessionOptions, 'initial'> {
  /** From `createClient` or `createAuthClient`; default: one of `createAuthClient` for `basePath`. */
  client?: Client | undefined
  /** The session that the server rendered; null for a signed-out user. Without it the first component fetches the session. */
  session?: SessionOptions['initial']
}

/**
 * A separate client and session. The client is one that finds methods of plugins by their names, so that ready-made parts can call them.
 */
export function createShared({ client, session, ...options }: SharedOptions = {}): PageClient {
  const own = client ?? createAuthClient(options)
  return { client: own, store: own.createSession({ ...options, initial: session }) }
}

let page: PageClient | undefined

/** Those of the page, at `/auth`. On a server it holds nothing: a session comes into it by a subscription only. */
export function sharedByPage(): PageClient {
  return (page ??= createShared())
}
