/**
 * The text of tokens. Refresh tokens are `rt.<session>.<generation>.<seed>.<mark>`. The mark is a keyed hash of the rest, and the store has a hash of the
 * present text alone. So a copy of the tables opens nothing, each earlier token is known when it comes back, and a refresh whose answer was lost can
 * give the same successor again: the server makes it from the token that it is shown.
 * Access tokens are `at.<session>.<end>.<scopes>.<secret>`: the secret is a keyed hash under the key of the app session, which is sealed at rest.
 */
import { type AnyContext, type Context, equal, randomHex, sha256, toBase64Url, toHex } from 'authkernel/kernel'
import { hkdf } from 'authkernel/kernel/protocols'

/** What access tokens are made of: a list of scopes that stays the same, and the key of the session. */
export interface TokenSource {
  readonly id: string
  readonly key: string
  readonly scopes: readonly string[]
}
/** A refresh token, taken apart. */
export interface RefreshText {
  session: string
  generation: number
  /** Random, the same for all tokens of an app session. */
  seed: string
  mark: string
}
/** An opaque access token, taken apart. */
interface AccessText {
  session: string
  /** Seconds since the epoch. */
  end: number
  /** Bits: places in the list of scopes. */
  scopes: string
  secret: string
}

const refreshSyntax = /^rt\.([0-9a-f]{32})\.([1-9]\d{0,8})\.([0-9a-f]{32})\.([0-9a-f]{64})$/
const accessSyntax = /^at\.([0-9a-f]{32})\.([1-9]\d{0,10})\.([0-9a-z]{1,64})\.([\w-]{43})$/
const purpose = 'bearer.refresh'

/** The first token of an app session. */
export async function makeFirstRefresh(ctx: AnyContext, session: string): Promise<string> {
  const body = `${session}.1.${randomHex(ctx.runtime, 16)}`
  return `rt.${body}.${await ctx.digest(purpose, body)}`
}

/** Texts of the next token, the newest secret first: one of them was answered if it was made already. */
export async function nextRefreshTexts(ctx: AnyContext, { session, generation, seed }: RefreshText): Promise<string[]> {
  const body = `${session}.${generation + 1}.${seed}`
  return (await ctx.digests(purpose, body)).map((mark) => `rt.${body}.${mark}`)
}

/** What is stored of a refresh token: it has more than 128 random bits, so that a fast hash is enough. */
export async function hashRefreshToken(text: string): Promise<string> {
  return toHex(await sha256(text))
}

/** Whether this server made the token, now or earlier. */
export async function isMarked(ctx: AnyContext, { session, generation, seed, mark }: RefreshText): Promise<boolean> {
  return (await ctx.digests(purpose, `${session}.${generation}.${seed}`)).some((known) => equal(known, mark))
}

export async function makeAccessToken({ id, key, scopes }: TokenSource, granted: readonly string[], end: number): Promise<string> {
  let bits = 0n
  scopes.forEach((scope, place) => {
    if (granted.includes(scope)) bits |= 1n << BigInt(place)
  })
  const text = bits.toString(36)
  return `at.${id}.${end}.${text}.${await deriveSecret(key, `access ${id} ${end} ${text}`)}`
}

/** Undefined for anything that is no refresh token; nothing is looked up for it. */
export function parseRefresh(text: string): RefreshText | undefined {
  const [, session, generation, seed, mark] = refreshSyntax.exec(text) ?? []
  return session === undefined || seed === undefined || mark === undefined
    ? undefined
    : { session, generation: Number(generation), seed, mark }
}

export function parseAccess(text: string): AccessText | undefined {
  const [, session, end, scopes, secret] = accessSyntax.exec(text) ?? []
  return session === undefined || scopes === undefined || secret === undefined ? undefined : { session, end: Number(end), scopes, secret }
}

/** The scopes of a live access token; undefined for any other. */
export async function scopesWithin(ctx: Pick<Context, 'now'>, session: TokenSource, text: AccessText): Promise<string[] | undefined> {
  const { end, scopes, secret } = text
  if (!equal(await deriveSecret(session.key, `access ${session.id} ${end} ${scopes}`), secret)) return undefined
  if (end * 1000 <= ctx.now.getTime()) return undefined
  const bits = [...scopes].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)
  return session.scopes.filter((_, place) => (bits >> BigInt(place)) & 1n)
}

async function deriveSecret(key: string, what: string): Promise<string> {
  return toBase64Url(await hkdf(key, 'authkernel bearer', what, 32))
}
