/** Token introspection (RFC 7662): resource servers ask whether a token is live. */
import { type AnyContext, type Context, equal, json, sha256, toHex } from 'authkernel/kernel'
import { apiKeyOf } from './issue.ts'
import { keySet, signingKeys } from './keys.ts'
import { jwtIssuer, type ResolvedOptions } from './options.ts'

type Claims = Record<string, unknown>
const inactive = { active: false }

/** Handles `POST /jwt/introspect`. What is not live, not ours or for another audience is exactly `{"active":false}`. */
export async function answerIntrospection(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await ctx.form()
  if ([...form.keys()].some((name) => form.getAll(name).length > 1)) return errorResponse(400, 'invalid_request')
  const audiences = await callerOf(ctx, options, form)
  if (audiences === 'twice') return errorResponse(400, 'invalid_request')
  if (!audiences) return errorResponse(401, 'invalid_client')
  const token = form.get('token')
  if (!token) return errorResponse(400, 'invalid_request')
  const claims = (await liveClaims(ctx, options, token, audiences)) ?? (await foreignClaims(ctx, token, audiences))
  return json(claims ? { token_type: 'cnf' in claims ? 'DPoP' : 'Bearer', ...claims, active: true } : inactive)
}

/** Audiences that the caller may ask about; undefined: an unknown caller. */
async function callerOf(
  ctx: Context,
  { introspection }: ResolvedOptions,
  form: URLSearchParams,
): Promise<readonly string[] | undefined | 'twice'> {
  const authorization = ctx.request.headers.get('authorization')
  const basic = /^Basic +(\S+)$/i.exec(authorization ?? '')?.[1]
  const posted = form.has('client_secret')
  // RFC 6749 section 2.3: one method per request.
  if (posted && (authorization !== null || ctx.request.headers.has('x-api-key'))) return 'twice'
  const [id, secret] = basic !== undefined ? readBasic(basic) : [form.get('client_id'), form.get('client_secret')]
  if (basic !== undefined || posted) {
    const client = introspection?.clients?.find((one) => one.id === id)
    // The same work for an unknown client.
    const right = equal(await hashOf(client?.secret ?? ''), await hashOf(secret ?? ''))
    return client && right ? client.audiences : undefined
  }
  const session = await ctx.currentSession()
  const apiKey = session && apiKeyOf(session)
  return apiKey && introspection?.apiKey ? introspection.apiKey({ apiKey, ctx }) : undefined
}

/** Null: not ours, ended, rejected by a plugin, or for another audience. */
export async function liveClaims(
  ctx: AnyContext,
  options: ResolvedOptions,
  token: string,
  audiences: readonly string[],
): Promise<Claims | null> {
  if (token.length > 8192) return null
  const { createLocalJWKSet, errors, jwtVerify } = await import('jose')
  const keys = await signingKeys(ctx, options)
  let claims: Claims
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keySet(keys)), {
      algorithms: [...new Set(keys.map(({ alg }) => alg))],
      typ: 'at+jwt',
      issuer: jwtIssuer(ctx, options),
      audience: [...audiences],
      requiredClaims: ['exp', 'sub', 'client_id', 'iat', 'jti'],
      currentDate: ctx.now,
    })
    claims = payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
  if (ctx.has('hook', 'accessToken') && (await ctx.ask('accessToken', { claims })) !== true) return null
  return (await isThere(ctx, claims)) ? claims : null
}

/** Of a token that another plugin gave, for one of the audiences of the caller. */
async function foreignClaims(ctx: Context, token: string, audiences: readonly string[]): Promise<Claims | null> {
  if (!ctx.has('hook', 'introspect')) return null
  const claims = await ctx.ask('introspect', { token, audiences })
  const own = claims ? [claims['aud']].flat() : []
  return claims && own.some((audience) => audiences.includes(audience as string)) ? claims : null
}

// Deleting a user ends the tokens of the user for resource servers that ask. Where sessions need no stored user, this is unknown.
async function isThere(ctx: AnyContext, { sub }: Claims): Promise<boolean> {
  if (!ctx.session.storedUsers || /^(?:key|service):/.test(String(sub)) || !ctx.store?.supports('getUser')) return true
  return (await ctx.store.getUser(String(sub))) !== null
}

/** RFC 6749 section 2.3.1: both parts are form-encoded. */
function readBasic(text: string): [id: string, secret: string] | [] {
  try {
    const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(atob(text)) ?? []
    const decode = (part: string): string => decodeURIComponent(part.replaceAll('+', ' '))
    return [decode(id), decode(secret)]
  } catch {
    return []
  }
}

async function hashOf(text: string): Promise<string> {
  return toHex(await sha256(text))
}

function errorResponse(status: 400 | 401, error: string): Response {
  return json({ error }, status, status === 401 ? { 'WWW-Authenticate': 'Basic realm="introspection"' } : {})
}
