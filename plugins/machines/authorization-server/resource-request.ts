/** A request that brings an access token for a resource: checked by its audience, its scopes and its key (RFC 6750, RFC 9449 section 7). */
import { type Context, json } from 'authkernel/kernel'
import { nonceHeaders, readProofKey } from '../bearer/dpop.ts'
import { detailsFor } from './authorization-details.ts'
import { scopesNow } from './introspection.ts'
import { readThumbprint } from './mutual-tls.ts'
import type { AuthorizationDetail, ResolvedOptions } from './options.ts'
import type { OAuthGrant } from './tables.ts'
import { findLiveToken } from './tokens.ts'

/** What a resource learns of the token of a request. */
export interface TokenOfRequest {
  grant: OAuthGrant
  /** As it was sent. */
  text: string
  scopes: readonly string[]
  /** Those of the audience. */
  details: readonly AuthorizationDetail[]
  /** Seconds since the epoch. */
  end: number
}
/** Why a request may not come in. */
export interface RefusedToken {
  status: 400 | 401 | 403
  /** Of RFC 6750 section 3.1; undefined: there was no token. */
  error: 'invalid_request' | 'invalid_token' | 'insufficient_scope' | 'use_dpop_nonce' | 'invalid_dpop_proof' | undefined
  scheme: 'Bearer' | 'DPoP'
}

/** The token of a request, or why there is none that counts. */
export async function readRequestToken(
  ctx: Context,
  options: ResolvedOptions,
  audience: string,
  needed: readonly string[],
): Promise<TokenOfRequest | RefusedToken> {
  const [, scheme = '', text = ''] = /^(Bearer|DPoP) +(\S+)$/i.exec(ctx.request.headers.get('authorization') ?? '') ?? []
  const isProved = scheme.toLowerCase() === 'dpop'
  const refuse = (error: RefusedToken['error'], status: RefusedToken['status'] = 401): RefusedToken => ({
    status,
    error,
    scheme: isProved ? 'DPoP' : 'Bearer',
  })
  if (text === '') return refuse(ctx.request.headers.has('authorization') ? 'invalid_token' : undefined)
  // RFC 6750 section 2: never in a URL, where logs keep it.
  if (ctx.url.searchParams.has('access_token')) return refuse('invalid_request', 400)
  const live = await findLiveToken(ctx, options, text)
  if (!live?.audiences.includes(audience)) return refuse('invalid_token')
  // A bound token counts with its key alone, and never as a bearer token.
  if ((live.grant.jkt !== null) !== isProved) return refuse('invalid_token')
  if (isProved) {
    const proof = await readProofKey(ctx, options, text)
    if ('error' in proof) return refuse(proof.error === 'use_dpop_nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof')
    if (proof.jkt !== live.grant.jkt) return refuse('invalid_token')
  }
  // RFC 8705 section 3: the connection has the certificate that the token is bound to.
  if (live.x5t !== null && live.x5t !== (await readThumbprint(ctx, options.mutualTls))) return refuse('invalid_token')
  const scopes = await scopesNow(ctx, options, live)
  if (!scopes) return refuse('invalid_token')
  if (!needed.every((scope) => scopes.includes(scope))) return refuse('insufficient_scope', 403)
  return { grant: live.grant, text, scopes, details: detailsFor(options, live.details, [audience]), end: live.end }
}

/** The response with its header `WWW-Authenticate`. `more`: further parameters of the challenge. */
export async function refusalResponse(
  ctx: Context,
  options: ResolvedOptions,
  { status, error, scheme }: RefusedToken,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const params = { ...(error !== undefined && { error }), ...more }
  const challenge = Object.entries(params).map(([name, value]) => `${name}="${value.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '')}"`)
  const nonces = scheme === 'DPoP' ? await nonceHeaders(ctx, options) : {}
  return json({ error: error ?? 'login_required' }, status, {
    'Cache-Control': 'no-store',
    ...nonces,
    'WWW-Authenticate': `${scheme} ${challenge.join(', ')}`.trim(),
  })
}
