/** Who a request with an access token is. */
import { type AnyContext, type Context, HttpError, type Session } from 'authkernel/kernel'
import { toSessionUser } from 'authkernel/kernel/strategies'
import { unverifiedJwt } from 'authkernel/kernel/protocols'
import { readOwner, scopesOf } from './app-sessions.ts'
import { nonceDemand, readProofKey } from './dpop.ts'
import { bearerIssuer, type ResolvedOptions } from './options.ts'
import { noteRefusal, type RefusalReason, type RefusedToken } from './refusals.ts'
import type { AppSession } from './tables.ts'
import { parseAccess, scopesWithin } from './tokens.ts'

/** A token that is live, and what it may. */
interface LiveToken {
  session: AppSession
  scopes: string[]
  /** Seconds since the epoch. */
  end: number
}

/**
 * Undefined: the request has no token of this server. Null: it has one, and the token is rejected. Throws HttpError 400 when an API key comes with it, and 401 when a
 * nonce is needed.
 */
export async function authenticateToken(ctx: Context, options: ResolvedOptions): Promise<Session | null | undefined> {
  const { headers } = ctx.request
  const sent = readAuthorization(headers.get('authorization') ?? '', options)
  if (!sent) return undefined
  if (headers.has('x-api-key')) throw new HttpError(400, 'An access token and an API key were sent. Send one of them.')
  const live = await findToken(ctx, options, sent.text)
  if ('refused' in live) return refuseToken(ctx, options, live.refused, live)
  const unheld = await whyNotHeld(ctx, options, live, sent)
  if (unheld) return refuseToken(ctx, options, unheld, live.session)
  const owner = await readOwner(ctx, options, live.session)
  if (!owner) return refuseToken(ctx, options, 'access', live.session)
  const scopes = await scopesOf(ctx, options, owner, live.scopes)
  const { clientId, jkt } = live.session
  return {
    user: toSessionUser(ctx.store, owner.user),
    expires: new Date(live.end * 1000).toISOString(),
    bearer: { id: live.session.id, clientId, scopes, ...(jkt !== null && { jkt }) },
  }
}

async function refuseToken(ctx: Context, options: ResolvedOptions, reason: RefusalReason, token: RefusedToken): Promise<null> {
  await noteRefusal(ctx, options, reason, token)
  return null
}

interface SentToken {
  scheme: 'bearer' | 'dpop'
  text: string
}

/** Undefined: none, or one for another plugin. A text with more than a token in it is ours and no token, so that it never leads to the cookie. */
function readAuthorization(authorization: string, options: ResolvedOptions): SentToken | undefined {
  const [, scheme = '', text = ''] = /^(Bearer|DPoP) +(.*)$/is.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'dpop') return { scheme: 'dpop', text }
  return scheme !== '' && isOurs(text, options) ? { scheme: 'bearer', text } : undefined
}

/** A bound token counts with its key alone, and never as a bearer token (RFC 9449 section 7.2). */
async function whyNotHeld(
  ctx: Context,
  options: ResolvedOptions,
  { session }: LiveToken,
  { scheme, text }: SentToken,
): Promise<'key' | 'proof' | undefined> {
  const isBound = session.jkt !== null
  if (isBound !== (scheme === 'dpop')) return 'key'
  if (!isBound) return options.bound.has(session.clientId) ? 'key' : undefined
  const proof = await readProofKey(ctx, options, text)
  if ('error' in proof && proof.error === 'use_dpop_nonce') throw await nonceDemand(ctx, options)
  if ('error' in proof) return 'proof'
  return proof.jkt === session.jkt ? undefined : 'key'
}

/** Null: not ours, expired, or of an app session that ended. */
export async function liveToken(ctx: AnyContext, options: ResolvedOptions, text: string): Promise<LiveToken | null> {
  const found = await findToken(ctx, options, text)
  return 'refused' in found ? null : found
}

/** The live token of a text, or why it is none. */
async function findToken(ctx: AnyContext, options: ResolvedOptions, text: string): Promise<LiveToken | Dead> {
  const parts = options.format === 'opaque' ? parseAccess(text) : undefined
  if (parts) {
    const session = await ctx.records('appSession').get(parts.session)
    if (!session) return { refused: 'ended', id: parts.session }
    const scopes = await scopesWithin(ctx, session, parts)
    if (scopes) return { session, scopes, end: parts.end }
    return { refused: parts.end * 1000 <= ctx.now.getTime() ? 'expired' : 'unknown', id: session.id }
  }
  if (options.format === 'opaque' || !ctx.request) return { refused: 'unknown' }
  const audience = options.audience ?? bearerIssuer(ctx, options)
  const claims = await ctx.service('accessTokens').verify(ctx, text, [audience])
  if (!claims) return { refused: await whyUnverified(ctx, options, text, audience) }
  return (await liveClaims(ctx, claims)) ?? { refused: 'ended', ...(typeof claims['ses'] === 'string' && { id: claims['ses'] }) }
}

interface Dead {
  refused: RefusalReason
  id?: string
}

/** By what the token says of itself: for logs alone. The verification says no more than that the token does not count. */
async function whyUnverified(ctx: AnyContext, options: ResolvedOptions, text: string, audience: string): Promise<RefusalReason> {
  const claims = unverifiedJwt(text)?.claims
  const { exp, aud, ses } = claims ?? {}
  if (typeof exp === 'number' && exp * 1000 <= ctx.now.getTime()) return 'expired'
  if (aud !== undefined && ![aud].flat().includes(audience)) return 'audience'
  if (!claims || typeof ses !== 'string') return 'unknown'
  const live = await liveClaims(ctx, claims)
  if (!live) return 'ended'
  return (await readOwner(ctx, options, live.session)) ? 'unknown' : 'access'
}

/** The app session of signed claims; null: it has ended, or the claims are of another token. */
export async function liveClaims(ctx: AnyContext, claims: Readonly<Record<string, unknown>>): Promise<LiveToken | null> {
  const session = typeof claims['ses'] === 'string' ? await ctx.records('appSession').get(claims['ses']) : null
  if (!session || session.userId !== claims['sub'] || session.clientId !== claims['client_id']) return null
  const scopes = String(claims['scope'] ?? '').split(' ')
  return { session, scopes: session.scopes.filter((scope) => scopes.includes(scope)), end: Number(claims['exp']) }
}

// Keys and tokens of other plugins are theirs. A refresh token is ours and no access token. A signed access token is ours where we sign them, also when it is a wrong one.
function isOurs(text: string, { format }: ResolvedOptions): boolean {
  if (/^[ar]t\./.test(text)) return true
  if (format === 'opaque') return false
  try {
    const head = text.split('.')[0]?.replaceAll('-', '+').replaceAll('_', '/') ?? ''
    return (
      String((JSON.parse(atob(head)) as { typ?: unknown }).typ)
        .toLowerCase()
        .replace('application/', '') === 'at+jwt'
    )
  } catch {
    return false
  }
}
