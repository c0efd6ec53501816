/** The response of a route of the host app to an app that may not come in (RFC 6750 section 3, RFC 9449 section 7.1). */
import { proofAlgorithms } from 'authkernel/jwt'
import { type Context, HttpError, json } from 'authkernel/kernel'
import { nonceHeaders } from './dpop.ts'
import type { ResolvedOptions } from './options.ts'

/**
 * 403 where a user is signed in and lacks a scope, else 401. The header `WWW-Authenticate` says why, and which scheme the request used; without a token it
 * names the schemes alone.
 */
export async function challengeApp(ctx: Context, options: ResolvedOptions, scope: string | undefined): Promise<Response> {
  try {
    const session = await ctx.currentSession()
    return await refusalResponse(ctx, options, session ? 'insufficient_scope' : 'invalid_token', scope)
  } catch (error) {
    if (error instanceof HttpError) return challengeAfter(ctx, options, error)
    throw error
  }
}

/** The same for a visitor whose session was read before: a proof is good for one reading. `error`: what the reading threw. */
export async function challengeAfter(ctx: Context, options: ResolvedOptions, error?: HttpError): Promise<Response> {
  if (!error) return refusalResponse(ctx, options, 'invalid_token', undefined)
  return json({ error: error.status === 401 ? 'use_dpop_nonce' : 'invalid_request' }, error.status, error.headers)
}

async function refusalResponse(
  ctx: Context,
  options: ResolvedOptions,
  error: 'insufficient_scope' | 'invalid_token',
  scope: string | undefined,
): Promise<Response> {
  const sent = /^(Bearer|DPoP) /i.exec(ctx.request.headers.get('authorization') ?? '')?.[1]?.toLowerCase()
  const wanted = scope === undefined ? '' : `, scope="${scope.replace(/[^\x21\x23-\x5b\x5d-\x7e ]/g, '')}"`
  if (error === 'insufficient_scope' || sent !== undefined) {
    const headers = sent === 'dpop' ? await nonceHeaders(ctx, options) : {}
    const scheme = sent === 'dpop' ? 'DPoP' : 'Bearer'
    return json({ error }, error === 'invalid_token' ? 401 : 403, {
      ...headers,
      'WWW-Authenticate': `${scheme} error="${error}"${wanted}`,
    })
  }
  // RFC 6750 section 3.1: a request without a token learns nothing.
  const realm = `realm="${new URL(ctx.origin).host}"`
  return json({ error: 'login_required' }, 401, {
    'WWW-Authenticate': `Bearer ${realm}${wanted}, DPoP ${realm}, algs="${proofAlgorithms.join(' ')}"`,
  })
}
