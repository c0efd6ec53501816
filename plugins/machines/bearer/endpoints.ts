/** The endpoints that apps call: tokens, revocation, and the metadata that names them. */
import { proofAlgorithms } from 'authkernel/jwt'
import { type AppCaller, type Context, HttpError, json, type TokenAnswer } from 'authkernel/kernel'
import { appFamilies, endSession } from './app-sessions.ts'
import { liveToken } from './authenticate.ts'
import { nonceHeaders, readProofKey } from './dpop.ts'
import { bearerIssuer, type ResolvedOptions } from './options.ts'
import { noteRefusal } from './refusals.ts'
import { sessionOfRefresh } from './rotation.ts'
import { parseRefresh } from './tokens.ts'

/** `POST /oauth/token`. */
export async function answerToken(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await ctx.form()
  const app = authenticateClient(ctx, form)
  if ('error' in app) {
    await noteRefusal(ctx, options, 'client')
    return json(app.error, app.status, app.headers)
  }
  const headers = {
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    ...(ctx.request.headers.has('dpop') && (await nonceHeaders(ctx, options))),
  }
  // Before anything is used up.
  const proof = await readProofKey(ctx, options)
  if ('error' in proof) {
    const { error, description: error_description, retryAfter } = proof
    if (error !== 'use_dpop_nonce') await noteRefusal(ctx, options, 'proof', { clientId: app.client.id })
    if (retryAfter === undefined) return json({ error, error_description }, 400, headers)
    return json({ error, error_description }, 429, { ...headers, 'Retry-After': String(retryAfter) })
  }
  const answer = await ctx.service('appTokens').grant(ctx, app.client, form)
  // A device that polls is not refused.
  if (answer.error !== undefined && !['authorization_pending', 'slow_down'].includes(answer.error))
    await noteRefusal(ctx, options, answer.error, { id: parseRefresh(form.get('refresh_token') ?? '')?.session, clientId: app.client.id })
  return json(answer, answer.error === undefined ? 200 : 400, headers)
}

/** `POST /oauth/revoke` (RFC 7009). Either token ends the app session, and with it all its tokens. A token that is not live is revoked already: 200. */
export async function answerRevocation(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await ctx.form()
  const app = authenticateClient(ctx, form)
  if ('error' in app) {
    await noteRefusal(ctx, options, 'client')
    return json(app.error, app.status, app.headers)
  }
  const token = form.get('token')
  if (!token) return json({ error: 'invalid_request', error_description: '`token` is missing.' }, 400)
  const live =
    (await sessionOfRefresh(ctx, appFamilies(ctx, options), app.client.id, token)) ?? (await liveToken(ctx, options, token))?.session
  if (live && live.clientId !== app.client.id) {
    // Another app has the token.
    await noteRefusal(ctx, options, 'client', { id: live.id, userId: live.userId, clientId: app.client.id })
    return json({ error: 'invalid_grant' }, 400)
  }
  if (live) await endSession(ctx, live, 'app')
  return new Response(null, { headers: { 'Cache-Control': 'no-store' } })
}

/** The app, or the answer of RFC 6749 section 5.2. */
export function authenticateClient(ctx: Context, form: URLSearchParams): AppCaller {
  // RFC 6749 section 4.1.3: a form, and nothing else.
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(ctx.request.headers.get('content-type') ?? ''))
    return clientError({ error: 'invalid_request', error_description: 'Send a form (application/x-www-form-urlencoded).' }, 400)
  const repeated = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1)
  if (repeated !== undefined) return clientError({ error: 'invalid_request', error_description: 'A parameter is repeated.' }, 400)
  const authorization = ctx.request.headers.get('authorization')
  const id = form.get('client_id')
  if (id === null && authorization === null)
    return clientError({ error: 'invalid_request', error_description: '`client_id` is missing.' }, 400)
  const client = ctx.service('appTokens').client(id ?? '')
  // An app that shows a secret is not the one that is listed here.
  if (!client || authorization !== null || form.has('client_secret') || form.has('client_assertion'))
    return clientError({ error: 'invalid_client' }, 401, authorization === null ? {} : { 'WWW-Authenticate': 'Basic realm="token"' })
  return { client }
}

/** What is wrong with the request itself, a body that is too long for example, as RFC 6749 section 5.2 says it. */
export async function answerAsOAuth(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error
    return json({ error: 'invalid_request', error_description: error.message }, error.status, {
      ...error.headers,
      'Cache-Control': 'no-store',
    })
  }
}

function clientError(error: TokenAnswer, status: number, headers: Record<string, string> = {}): AppCaller {
  return { error, status, headers: { 'Cache-Control': 'no-store', ...headers } }
}

/** Members of the metadata, for the issuer at the origin. */
export function metadataMembers(ctx: Context, options: ResolvedOptions): Record<string, unknown> {
  const scopes = new Set([...options.apps.values()].flatMap((app) => app.scopes))
  return {
    issuer: bearerIssuer(ctx, options),
    authorization_endpoint: `${ctx.base}/oauth/authorize`,
    token_endpoint: `${ctx.base}/oauth/token`,
    revocation_endpoint: `${ctx.base}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    dpop_signing_alg_values_supported: [...proofAlgorithms],
    ...(scopes.size > 0 && { scopes_supported: [...scopes] }),
  }
}

/**
 * The same for the issuer with the base path, for clients that were given that address. The authorization endpoint learns by `iss` which of the two
 * it answers for, so that `iss` of its answer (RFC 9207) is the issuer that the client knows.
 */
export function metadataOfBase(ctx: Context, members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { authorization_endpoint: endpoint } = members
  return { ...members, issuer: ctx.base, authorization_endpoint: `${String(endpoint)}?iss=${encodeURIComponent(ctx.base)}` }
}
