/** The cookies of pending flows: one that holds them, sealed, and one for each further check. Registering needs no more of them. */
import { type CookieHandle, createCookie, createPending, type Kernel, type PendingList } from 'authkernel/kernel'
import type { StepUp } from './types.ts'

/** Seconds that a person may take at the provider. */
export const flowLifetime = 900

/** One pending flow. */
export interface Entry {
  provider: string
  /** PKCE verifier. */
  verifier?: string
  nonce?: string
  /** What the cookies of its checks hold. */
  marks?: Marks
  callbackUrl?: string
  maxAge?: number
  /** Who was signed in. */
  by?: string
  /** It began with a session, whose cookie a cross-site POST does not bring. */
  session?: boolean
  /** The session that is here is proved anew. */
  stepUp?: StepUp
  /** Comes back by a cross-site POST. */
  post?: boolean
}
/** Checks with a cookie beside that of the state. */
export type Marked = 'pkce' | 'nonce'
/** What they hold for a flow. */
export type Marks = Partial<Record<Marked, string>>

/** The flows. */
export const states: PendingList<Entry> = /* @__PURE__ */ createPending<Entry>('state', {
  seconds: flowLifetime,
  cookie: { key: 'state', maxAge: flowLifetime, prefix: 'secure' },
  crossSite: isForeign,
})

/** The cookies of the marks: names and attributes are those of Auth.js. Verifier and nonce themselves are sealed with their flow, once. */
export const cookies: Readonly<Record<Marked, CookieHandle>> = {
  pkce: /* @__PURE__ */ createCookie('pkce.code_verifier', { key: 'pkceCodeVerifier', maxAge: flowLifetime, prefix: 'secure' }),
  // Expires alone (row 80).
  nonce: /* @__PURE__ */ createCookie('nonce', { key: 'nonce', prefix: 'secure' }),
}
/** Their checks. */
export const marked: readonly Marked[] = ['pkce', 'nonce']

/** Registers the cookies of pending flows. */
export function registerChecks(kernel: Kernel): void {
  kernel.pending(states)
  for (const check of marked) kernel.cookie(cookies[check])
}

/** A POST of the provider is cross-site: Lax cookies would stay at home (row 87). */
export function isForeign({ post }: Entry): boolean {
  return post === true
}
