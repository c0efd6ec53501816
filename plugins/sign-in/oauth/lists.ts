/** The cookies of pending flows: one that holds them, sealed, and one for each further check, with a random mark per flow. */
import {
  type Context,
  type CookieHandle,
  createCookie,
  createPending,
  equal,
  type Kernel,
  type PendingList,
  toBase64Url,
} from 'authkernel/kernel'
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
  checks?: readonly string[]
  maxAge?: number
  /** Who was signed in. */
  by?: string
  /** The session that is here is proved anew. */
  stepUp?: StepUp
  /** Comes back by a cross-site POST. */
  post?: boolean
}
/** Checks with a cookie beside that of the state. */
export type Marked = 'pkce' | 'nonce'
type Marks = Partial<Record<Marked, string>>

/** The flows. */
export const states: PendingList<Entry> = /* @__PURE__ */ createPending<Entry>('state', {
  seconds: flowLifetime,
  cookie: { key: 'state', maxAge: flowLifetime },
  crossSite: isForeign,
})

// Names and attributes are those of Auth.js. Verifier and nonce themselves are sealed with their flow, once.
const cookies: Readonly<Record<Marked, CookieHandle>> = {
  pkce: /* @__PURE__ */ createCookie('pkce.code_verifier', { key: 'pkceCodeVerifier', maxAge: flowLifetime }),
  // Expires alone (row 80).
  nonce: /* @__PURE__ */ createCookie('nonce', { key: 'nonce' }),
}
const marked: readonly Marked[] = ['pkce', 'nonce']

/** Registers the cookies of pending flows. */
export function registerChecks(kernel: Kernel): void {
  kernel.pending(states)
  for (const check of marked) kernel.cookie(cookies[check])
}

/** A mark for each of the checks that has a cookie. */
export function marksFor(ctx: Context, checks: readonly string[]): Marks {
  const marks: Marks = {}
  for (const check of marked) if (checks.includes(check)) marks[check] = toBase64Url(ctx.runtime.random(16))
  return marks
}

/** Whether the browser brought the mark of a flow along. */
export function hasMark(ctx: Context, check: Marked, { marks }: Entry): boolean {
  const mark = marks?.[check]
  return (
    mark !== undefined &&
    (cookies[check]
      .get(ctx)
      ?.split('.')
      .some((value) => equal(value, mark)) ??
      false)
  )
}

/** Writes the marks of all flows of the browser; a cookie of a check that none of them has ends. */
export function writeMarks(ctx: Context, flows: readonly Entry[], survivesFailure: boolean): void {
  for (const check of marked) {
    const value = flows.flatMap(({ marks }) => marks?.[check] ?? []).join('.')
    if (value === '') {
      if (cookies[check].get(ctx) !== undefined) cookies[check].delete(ctx)
      continue
    }
    const foreign = flows.some(isForeign) ? ({ sameSite: 'none', secure: true } as const) : {}
    const expires = new Date(ctx.runtime.now() + flowLifetime * 1000)
    cookies[check].set(ctx, value, { ...foreign, expires, survivesFailure })
  }
}

// A POST of the provider is cross-site: Lax cookies would stay at home (row 87).
function isForeign({ post }: Entry): boolean {
  return post === true
}
