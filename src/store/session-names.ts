/** Names under which session stores keep sessions, and the forms in which they list them: a stored row opens no session. */
import { fromBase64, sha256, toBase64Url, toHex } from '../keys/crypto.ts'

// The name of a tenant stays readable, and the hash is that of the cookie: ids of sessions are made from it.
const tenantLead = /^~[a-z0-9-]{0,32}~/
const storedForm = /^(~[a-z0-9-]{0,32}~)?sha256:([0-9a-f]{64})$/
const nameOfSession = /^(~[a-z0-9-]{0,32}~)?([\w-]{43})$/

/** The name of the session of a cookie. A listed form is a token like any other here: a stolen row opens nothing. */
export async function toSessionName(sessionToken: string): Promise<string> {
  const [lead = ''] = tenantLead.exec(sessionToken) ?? []
  return lead + toBase64Url(await sha256(sessionToken.slice(lead.length)))
}

/** The name of a session by its token, or by the form in which it is listed. */
export async function toListedName(sessionToken: string): Promise<string> {
  const [, lead = '', hash] = storedForm.exec(sessionToken) ?? []
  return hash === undefined ? toSessionName(sessionToken) : lead + toBase64Url(Uint8Array.from(hash.match(/../g) ?? [], parseHex))
}

/** The form in which a session is listed: the hash of its token, which is no cookie. */
export function toListedForm(name: string): string {
  const [, lead = '', hash = ''] = nameOfSession.exec(name) ?? []
  return `${lead}sha256:${toHex(fromBase64(hash))}`
}

/** What all sessions of a user are compared with. A new generation ends those of the former ones. */
export interface SessionGeneration {
  /** Empty: the sessions of the user were never ended together. */
  readonly name: string
  /** The session of an earlier generation that goes on. */
  readonly kept: { readonly session: string; readonly stamp: string } | undefined
}

/** Whether a session with this stamp goes on. */
export function isOfGeneration({ name, kept }: SessionGeneration, session: string, stamp: string): boolean {
  return stamp === name || (kept?.session === session && kept.stamp === stamp)
}

/** The name of a new generation. Random, so that one that was lost with its server never comes back by counting. */
export function newGeneration(): string {
  return crypto.randomUUID().slice(-12)
}

/** A stamp that holds the place of a copy until its session has been read. */
export function newReservation(): string {
  return `?${crypto.randomUUID()}`
}

/** Whether a stamp holds a place, and is no session. */
export function isReservation(stamp: string): boolean {
  return stamp.startsWith('?')
}

/** Milliseconds that a generation is kept at least: browsers keep no cookie longer than 400 days (RFC 6265bis section 5.5). */
export const longestCookie: number = 400 * 86_400_000

function parseHex(digits: string): number {
  return Number.parseInt(digits, 16)
}
