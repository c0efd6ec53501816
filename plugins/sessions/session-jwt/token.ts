/** The token in the cookie: opened, written, taken away, and the claim that names its session. */
import {
  type Context,
  type JWT,
  marksHold,
  randomUUID,
  type Revocation,
  type Revocations,
  type SessionAttributes,
  sha256,
  toHex,
  type User,
} from 'authkernel/kernel'
import { copyShownFields, outdatedKey } from 'authkernel/kernel/strategies'
import { JWTSessionError } from 'authkernel/errors'
import type { JwtStrategy, JwtOptions } from './options.ts'

/** The session that a token is of: a claim that neither hooks nor events see. */
export type Claim = { id: string; started: number; feed?: string } & Partial<SessionAttributes>
/** A token without the claim, and the claim. */
export interface HeldToken {
  token: JWT
  claim: Claim
}

/** A token from a cookie. */
export interface OpenedToken extends HeldToken {
  /** Whether it is under a key that is not the newest. */
  isOutdated: boolean
}

/** Name of the claim. */
const claimName = 'ses'
// The last second of the calendar of JavaScript (ECMA-262 21.4.1.1).
const lastSecond = 8.64e12

/**
 * The token of a cookie apart from its claim; null: it cannot be opened. One from before there were claims can be ended all the same. `failed` gets what
 * `decode` of the host threw.
 */
export async function openToken(
  ctx: Context,
  { decode }: JwtOptions,
  value: string,
  failed: (error: unknown) => void = () => {},
): Promise<OpenedToken | null> {
  const { name } = ctx.cookies.sessionToken
  const opened = decode ? await decodeByHost(ctx, decode, value, failed) : await ctx.open<{ [claimName]?: Claim }>(name, value)
  if (!opened) return null
  const { [claimName]: known, ...token } = opened
  const claim = typeof known?.id === 'string' ? known : await claimOf(token, value)
  return { token, claim, isOutdated: Reflect.get(opened, outdatedKey) === true }
}

async function decodeByHost(
  ctx: Context,
  decode: NonNullable<JwtOptions['decode']>,
  value: string,
  failed: (error: unknown) => void,
): Promise<(JWT & { [claimName]?: Claim }) | null> {
  try {
    return await decode({ token: value, secret: jwtSecret(ctx), salt: ctx.cookies.sessionToken.name })
  } catch (error) {
    failed(error)
    return null
  }
}

async function claimOf({ sid, jti, sst, iat }: JWT, value: string): Promise<Claim> {
  const started = Number(sst ?? iat ?? 0) * 1000
  // A host's own token may have no id at all.
  const id = (typeof sid === 'string' && sid !== '' ? sid : jti) || toHex(await sha256(value))
  return { id, started }
}

/**
 * A new session. It begins after what ended the ones before it, so that a sign-in follows a sign-out everywhere. `feed`: how far the revocations had been
 * read when it was found that nothing is in its way.
 */
export function newClaim(
  ctx: Context,
  { revocations }: JwtStrategy,
  token: JWT,
  attributes: SessionAttributes,
  feed: string | undefined,
): Claim {
  const claim = { id: randomUUID(ctx.runtime), ...attributes }
  const ended = revocations && latestRevocation(revocations, ctx.settings.namespace, token, { ...claim, started: -1 })
  const started = ended ? Math.max(claim.started, ended.before + 1) : claim.started
  return { ...claim, started, ...(feed !== undefined && { feed }) }
}

/** The latest reason in the copy of this process why a session has ended. */
export function latestRevocation(
  { entries, reaches, former }: Revocations,
  namespace: string,
  token: Pick<JWT, 'sub'>,
  claim: Claim,
): Revocation | undefined {
  const { sub } = token
  const provider = encodeURIComponent(claim.provider ?? '')
  const pair = `pair:${provider}:${encodeURIComponent(claim.sub ?? '')}:${claim.sid ?? ''}`
  const keys = [`user:${sub}`, `sid:${provider}:${claim.sid ?? ''}`, `sub:${provider}:${claim.sub ?? ''}`, pair, 'all']
  const session = { started: claim.started, place: claim.feed }
  let latest = entries.get(`${namespace} id:${claim.id}`)
  for (const key of keys) {
    for (let entry = entries.get(`${namespace} ${key}`); entry; entry = entry.earlier) {
      const isReached = reaches ? reaches(entry, session) : entry.before >= claim.started
      if (isReached && entry.except !== claim.id && entry.before >= (latest?.before ?? 0)) latest = entry
    }
  }
  return latest ?? (former && latestRevocation(former, namespace, token, claim))
}

/** What sessions of a provider are ended by. */
export function attributeKey({ provider: id, ...names }: { provider: string; sid?: string; sub?: string }): string {
  const { sid, sub } = names
  const provider = encodeURIComponent(id)
  if (sid === undefined) return `sub:${provider}:${sub ?? ''}`
  return sub === undefined ? `sid:${provider}:${sid}` : `pair:${provider}:${encodeURIComponent(sub)}:${sid}`
}

/** Whether what the session says of itself holds now. Two comparisons for an ordinary session. */
export function claimHolds(ctx: Context, claim: Claim): boolean {
  return (claim.kinds === undefined && claim.until === undefined) || marksHold(ctx, claim)
}

export async function writeToken(ctx: Context, options: JwtOptions, { token, claim }: HeldToken): Promise<void> {
  const { name, options: attributes } = ctx.cookies.sessionToken
  const expires = expiryOf(ctx, options, claim)
  const maxAge = Math.max(1, Math.round((expiryOf(ctx, options, claim, options.tokenAge).getTime() - ctx.now.getTime()) / 1000))
  // What was worked out for a token from before is stored only where something goes by it.
  const whole = claim.provider !== undefined || options.revocable ? { ...token, [claimName]: claim } : token
  // A proxy that only opens the token must see who acts.
  const payload = claim.actor === undefined ? whole : { ...whole, act: { sub: claim.actor } }
  const value = options.encode
    ? await options.encode({ token: payload, secret: jwtSecret(ctx), salt: name, maxAge })
    : await ctx.seal(name, payload, maxAge)
  ctx.setChunkedCookie(name, value, { ...attributes, expires })
}

export function clearToken(ctx: Context): void {
  const { name, options } = ctx.cookies.sessionToken
  ctx.deleteCookie(name, options)
}

export function expiryOf(ctx: Context, { maxAge, absoluteMaxAge }: JwtOptions, { started, until }: Claim, age: number = maxAge): Date {
  const idle = ctx.now.getTime() + age * 1000
  const cap = absoluteMaxAge === undefined ? Infinity : started + absoluteMaxAge * 1000
  return new Date(Math.min(idle, cap, until ?? Infinity))
}

export function endOf(ctx: Context, options: JwtOptions, { token, claim }: HeldToken): Date {
  const idle = options.tokenAge !== options.maxAge && token.iat !== undefined ? token.iat + options.maxAge : token.exp
  const end = claim.until !== undefined && idle !== undefined ? Math.min(idle, claim.until / 1000) : idle
  // A host's own token, or its callback, may say what is no date.
  return Math.abs(end ?? Infinity) <= lastSecond ? new Date((end as number) * 1000) : expiryOf(ctx, options, claim)
}

// As the host wrote it: its own encode and decode expect the option's shape.
function jwtSecret(ctx: Context): string | readonly string[] {
  const { secret } = ctx.settings
  return secret.length === 1 ? (secret[0] as string) : secret
}

/** Created for each bad cookie that a client sends. It has no stack: the place says nothing, and to find it out costs as much as to open a token. */
export function openingError(reason: unknown): JWTSessionError {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const message = 'The session token could not be opened: it is expired, altered, or from another secret.'
  const error = new JWTSessionError(message, reason instanceof Error ? reason : {})
  Error.stackTraceLimit = stackTraceLimit
  return error
}

/** What the token does not say is undefined. It is absent for clients, as with Auth.js; null stays null. */
export function tokenUser({ settings, store }: Context, token: JWT): User {
  const { sub, name, email, picture } = token
  const user = (
    settings.sessionUserId !== false && sub !== undefined ? { id: sub, name, email, image: picture } : { name, email, image: picture }
  ) as User
  copyShownFields(store, token, user)
  return user
}
