/** Who a request with an access token is. */
import { type AnyContext, type Context, HttpError, type Session } from 'authkernel/kernel'
import { keyShown, nonceWanted } from './dpop.ts'
import { issuerOf, type ResolvedOptions } from './options.ts'
import { personOf, rightsOf } from './person.ts'
import type { AppSession } from './table.ts'
import { parseAccess, scopesWithin } from './tokens.ts'

/** A token that is live, and what it may. */
export interface LiveToken {
  session: AppSession
  scopes: string[]
  /** Seconds since the epoch. */
  end: number
}

/**
 * Undefined: the request has no token of ours. Null: it has one, and it is nobody's. Throws HttpError 400 when an API key comes with it, and 401 when a
 * nonce is needed.
 */
export async function authenticate(ctx: Context, options: ResolvedOptions): Promise<Session | null | undefined> {
  const { headers } = ctx.request
  const given = presented(headers.get('authorization') ?? '', options)
  if (!given) return undefined
  if (headers.has('x-api-key')) throw new HttpError(400, 'An access token and an API key were sent. Send one of them.')
  const live = await liveToken(ctx, options, given.text)
  if (!live) return null
  if (!(await isHeld(ctx, options, live, given))) {
    // Somebody has the token without its key.
    const { id, userId } = live.session
    await ctx.emit('noted', { name: 'bearer.refused', outcome: 'denied', reason: 'key', user: { id: userId }, details: { id } })
    return null
  }
  const person = await personOf(ctx, options, live.session)
  if (!person) return null
  const { id, name = null, email = null, image = null } = person.user
  const scopes = await rightsOf(ctx, options, person, live.scopes)
  const { clientId, jkt } = live.session
  return {
    user: { id, name, email, image },
    expires: new Date(live.end * 1000).toISOString(),
    bearer: { id: live.session.id, clientId, scopes, ...(jkt !== null && { jkt }) },
  }
}

interface Presented {
  scheme: 'bearer' | 'dpop'
  text: string
}

/** Undefined: none, or one for another plugin. A text with more than a token in it is ours and no token, so that it never leads to the cookie. */
function presented(authorization: string, options: ResolvedOptions): Presented | undefined {
  const [, scheme = '', text = ''] = /^(Bearer|DPoP) +(.*)$/is.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'dpop') return { scheme: 'dpop', text }
  return scheme !== '' && isOurs(text, options) ? { scheme: 'bearer', text } : undefined
}

/** A bound token counts with its key alone, and never as a bearer token (RFC 9449 section 7.2). */
async function isHeld(ctx: Context, options: ResolvedOptions, { session }: LiveToken, { scheme, text }: Presented): Promise<boolean> {
  const isBound = session.jkt !== null
  if (isBound !== (scheme === 'dpop')) return false
  if (!isBound) return !options.bound.has(session.clientId)
  const shown = await keyShown(ctx, options, text)
  if ('error' in shown && shown.error === 'use_dpop_nonce') throw await nonceWanted(ctx, options)
  return 'jkt' in shown && shown.jkt === session.jkt
}

/** Null: not ours, expired, or of an app session that ended. */
export async function liveToken(ctx: AnyContext & { origin?: string }, options: ResolvedOptions, text: string): Promise<LiveToken | null> {
  const parts = options.format === 'opaque' ? parseAccess(text) : undefined
  if (parts) {
    const session = await ctx.records('appSession').get(parts.session)
    const scopes = session && (await scopesWithin(ctx, session, parts))
    return session && scopes ? { session, scopes, end: parts.end } : null
  }
  if (options.format === 'opaque' || !ctx.request) return null
  const claims = await ctx.service('accessTokens').verify(ctx, text, [options.audience ?? issuerOf(ctx, options)])
  return claims && liveClaims(ctx, claims)
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
