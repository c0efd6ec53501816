/** What may differ per request. Types only. */
import type { Awaitable } from './data.ts'

/** Names the purpose of a derived key; Auth.js has its own, see `authjsCompatPlugin`. */
export type KeyInfo = (salt: string) => string

/** Settings that can differ for each request. Return the same object for the same tenant from the `settings` hook: it is the cache key. */
export interface Settings {
  /** Newest first. */
  secret: readonly string[]
  /** `https://host[:port]`, or '' to follow the request (D34). */
  origin: string
  basePath: string
  cookiePrefix: string
  /** Name of the session's cookie behind the prefix; default `session-token`. */
  sessionCookieName?: string
  /** Of the tenant: 0 to 32 characters of a-z, 0-9 and "-"; '' is the default. What one namespace stores is absent in every other. */
  namespace: string
  /** HKDF info of a key, by salt. */
  keyInfo(salt: string): string
  /** Algorithms accepted on open; the first one seals. */
  encryption: readonly ('A256CBC-HS512' | 'A256GCM')[]
  /** Whether `session.user` has the `id` of the user; default true. */
  sessionUserId?: boolean
  /** Digests that also count for CSRF and verification tokens: those of another product (`authjsCompatPlugin`). */
  legacyDigests?(value: string, secrets: readonly string[]): Awaitable<readonly string[]>
}
