/** The cookies of pending flows. */
import { createPending, type Kernel, type PendingList } from 'authkernel/kernel'
import type { StepUp } from './types.ts'

/** Seconds that a person may take at the provider. */
export const flowLifetime = 900

/** One pending flow in one cookie. */
export interface Entry {
  provider: string
  /** PKCE verifier or nonce. */
  value?: string
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
const listOf = (name: string, key: string, maxAge: number | undefined): PendingList<Entry> =>
  // A POST of the provider is cross-site: Lax cookies would stay at home (row 87).
  createPending<Entry>(name, { seconds: flowLifetime, cookie: { key, maxAge }, crossSite: ({ post }) => post === true })
/** The flows themselves. */
export const states: PendingList<Entry> = /* @__PURE__ */ listOf('state', 'state', flowLifetime)
/** Their PKCE verifiers. */
export const verifiers: PendingList<Entry> = /* @__PURE__ */ listOf('pkce.code_verifier', 'pkceCodeVerifier', flowLifetime)
/** Their nonces. */
// As Auth.js has it: Expires alone (row 80).
export const nonces: PendingList<Entry> = /* @__PURE__ */ listOf('nonce', 'nonce', undefined)

/** Registers the cookies of pending flows. */
export function registerChecks(kernel: Kernel): void {
  for (const list of [states, verifiers, nonces]) kernel.pending(list)
}
