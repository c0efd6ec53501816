/**
 * The text of tokens. `rt.<session>.<generation>.<secret>` and `at.<session>.<end>.<scopes>.<secret>`: the secrets are derived from the key of
 * the app session, which is sealed at rest. So a copy of the tables opens nothing, each earlier refresh token is known when it comes back,
 * and a refresh whose answer was lost can give the same successor again.
 */
import { type Context, equal, hkdf, toBase64Url } from 'authkernel/kernel'
import type { AppSession } from './table.ts'

/** A refresh token, taken apart. */
export interface RefreshText {
  session: string
  generation: number
  secret: string
}
/** An opaque access token, taken apart. */
export interface AccessText {
  session: string
  /** Seconds since the epoch. */
  end: number
  /** Bits: places in the list of scopes. */
  scopes: string
  secret: string
}

const refreshSyntax = /^rt\.([0-9a-f]{32})\.([1-9]\d{0,8})\.([\w-]{43})$/
const accessSyntax = /^at\.([0-9a-f]{32})\.([1-9]\d{0,10})\.([0-9a-z]{1,64})\.([\w-]{43})$/

export async function refreshToken({ id, key, generation }: AppSession): Promise<string> {
  return `rt.${id}.${generation}.${await derive(key, `refresh ${id} ${generation}`)}`
}

export async function accessToken({ id, key, scopes }: AppSession, granted: readonly string[], end: number): Promise<string> {
  let bits = 0n
  scopes.forEach((scope, place) => {
    if (granted.includes(scope)) bits |= 1n << BigInt(place)
  })
  const text = bits.toString(36)
  return `at.${id}.${end}.${text}.${await derive(key, `access ${id} ${end} ${text}`)}`
}

/** Undefined for anything that is no refresh token; nothing is looked up for it. */
export function parseRefresh(text: string): RefreshText | undefined {
  const [, session, generation, secret] = refreshSyntax.exec(text) ?? []
  return session === undefined || secret === undefined ? undefined : { session, generation: Number(generation), secret }
}

export function parseAccess(text: string): AccessText | undefined {
  const [, session, end, scopes, secret] = accessSyntax.exec(text) ?? []
  return session === undefined || scopes === undefined || secret === undefined ? undefined : { session, end: Number(end), scopes, secret }
}

/** Whether this server gave the token, now or earlier. */
export async function isRefresh({ id, key }: AppSession, { generation, secret }: RefreshText): Promise<boolean> {
  return equal(await derive(key, `refresh ${id} ${generation}`), secret)
}

/** The scopes of a live access token; undefined for any other. */
export async function scopesWithin(ctx: Pick<Context, 'now'>, session: AppSession, text: AccessText): Promise<string[] | undefined> {
  const { end, scopes, secret } = text
  if (!equal(await derive(session.key, `access ${session.id} ${end} ${scopes}`), secret)) return undefined
  if (end * 1000 <= ctx.now.getTime()) return undefined
  const bits = [...scopes].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)
  return session.scopes.filter((_, place) => (bits >> BigInt(place)) & 1n)
}

async function derive(key: string, what: string): Promise<string> {
  return toBase64Url(await hkdf(key, 'authkernel bearer', what, 32))
}
