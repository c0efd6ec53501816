/** What a route of the host answers an app that may not come in (RFC 6750 section 3, RFC 9449 section 7.1). */
import { type Context, HttpError, json } from 'authkernel/kernel'
import { proofAlgorithms } from 'authkernel/jwt'
import { nonceHeaders } from './dpop.ts'
import type { ResolvedOptions } from './options.ts'

/**
 * 403 where somebody is signed in and lacks a scope, else 401. The header `WWW-Authenticate` says why, and which scheme the request used; without a token it
 * names the schemes alone.
 */
export async function challenge(ctx: Context, options: ResolvedOptions, scope: string | undefined): Promise<Response> {
  const given = /^(Bearer|DPoP) /i.exec(ctx.request.headers.get('authorization') ?? '')?.[1]?.toLowerCase()
  const headers = given === 'dpop' ? await nonceHeaders(ctx, options) : {}
  const wanted = scope === undefined ? '' : `, scope="${scope.replace(/[^\x21\x23-\x5b\x5d-\x7e ]/g, '')}"`
  const answer = (status: 401 | 403, error: string, more = ''): Response =>
    json({ error }, status, { ...headers, 'WWW-Authenticate': `${given === 'dpop' ? 'DPoP' : 'Bearer'} error="${error}"${more}` })
  let session
  try {
    session = await ctx.currentSession()
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return json({ error: error.status === 401 ? 'use_dpop_nonce' : 'invalid_request' }, error.status, error.headers)
  }
  if (session) return answer(403, 'insufficient_scope', wanted)
  if (given !== undefined) return answer(401, 'invalid_token', wanted)
  // RFC 6750 section 3.1: nothing is told to a request without a token.
  const realm = `realm="${new URL(ctx.origin).host}"`
  return json({ error: 'login_required' }, 401, {
    'WWW-Authenticate': `Bearer ${realm}${wanted}, DPoP ${realm}, algs="${proofAlgorithms.join(' ')}"`,
  })
}
