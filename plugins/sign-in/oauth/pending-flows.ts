/**
 * What the browser keeps of pending flows: one cookie that holds them, sealed, and one for each further check. Registering the provider type needs this and
 * no more; what reads and writes them is in `checks.ts`, which the first sign-in loads.
 */
import { type CookieHandle, createCookie, createPending, type Kernel, type PendingList } from 'authkernel/kernel'

/** What a step-up demands of the provider's answer. */
export interface StepUp {
  /** The account of the session. */
  sub: string
  /** Seconds. */
  maxAge: number
  acr?: readonly string[]
}

/** Seconds that a user may take at the provider. */
export const flowLifetime = 900

/** One pending flow. */
export interface PendingFlow {
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
  /** It proves the session again. */
  stepUp?: StepUp
  /** Comes back by a cross-site POST. */
  post?: boolean
}

/** Checks with a cookie beside that of the state. */
export type MarkedCheck = 'pkce' | 'nonce'

/** What they hold for a flow. */
export type Marks = Partial<Record<MarkedCheck, string>>

/** The flows. */
export const pendingFlows: PendingList<PendingFlow> = /* @__PURE__ */ createPending<PendingFlow>('state', {
  seconds: flowLifetime,
  cookie: { key: 'state', maxAge: flowLifetime, prefix: 'secure' },
  crossSite: isCrossSite,
})

/** The cookies of the marks: names and attributes are those of Auth.js. Verifier and nonce themselves are sealed with their flow, once. */
export const markCookies: Readonly<Record<MarkedCheck, CookieHandle>> = {
  pkce: /* @__PURE__ */ createCookie('pkce.code_verifier', { key: 'pkceCodeVerifier', maxAge: flowLifetime, prefix: 'secure' }),
  // Expires alone (row 80).
  nonce: /* @__PURE__ */ createCookie('nonce', { key: 'nonce', prefix: 'secure' }),
}

/** Their checks. */
export const markedChecks: readonly MarkedCheck[] = ['pkce', 'nonce']

/** Registers the cookies of pending flows. */
export function registerCheckCookies(kernel: Kernel): void {
  kernel.pending(pendingFlows)
  for (const check of markedChecks) kernel.cookie(markCookies[check])
}

/** A POST of the provider is cross-site: Lax cookies would stay at home (row 87). */
export function isCrossSite({ post }: PendingFlow): boolean {
  return post === true
}
