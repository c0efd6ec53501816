/** Routes: the public keys, tokens for pages and API keys, introspection. */
import { type AuthError, type Context, type HttpError, json, type Kernel } from 'authkernel/kernel'
import { answerIntrospection } from './introspect.ts'
import { issueToken } from './issue.ts'
import { keySet, signingKeys } from './keys.ts'
import { metadataPath, wholeMetadata } from './metadata.ts'
import type { ResolvedOptions } from './options.ts'

/** Adds the routes that the options ask for. */
export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  kernel.route({
    method: 'GET',
    path: '/.well-known/jwks.json',
    at: 'root',
    public: { maxAge: options.jwksMaxAge },
    cors: { origins: 'any' },
    handler: async (ctx) =>
      new Response(JSON.stringify(keySet(await signingKeys(ctx, options))), { headers: { 'Content-Type': 'application/jwk-set+json' } }),
    failure: failureResponse,
  })
  const path = options.issuer === undefined ? '' : new URL(options.issuer).pathname.replace(/\/$/, '')
  kernel.route({
    method: 'GET',
    path: `${metadataPath}${path}`,
    at: 'root',
    // A plugin with a token endpoint answers it, with the members of this one.
    fallback: true,
    public: { maxAge: 300 },
    cors: { origins: 'any' },
    handler: (ctx) => wholeMetadata(ctx, options),
    failure: failureResponse,
  })
  if (options.routes) {
    const body = { bytes: 8192, types: ['json' as const, 'form' as const] }
    const handler = (ctx: Context): Promise<Response> => answerToken(ctx, options)
    kernel.route({ method: 'POST', path: '/jwt/token', csrf: 'origin', body, handler, failure: failureResponse, refusal: requestError })
    // Programs send no Origin. They have no cookies here, so that another site's page gets nothing by it.
    kernel.route({
      method: 'POST',
      path: '/jwt/key-token',
      csrf: 'bearer',
      cors: { origins: 'any', headers: ['x-api-key', 'dpop'] },
      body,
      handler,
      failure: failureResponse,
      refusal: requestError,
    })
  }
  if (options.introspection) {
    const body = { bytes: 16_384, types: ['form' as const] }
    kernel.route({
      method: 'POST',
      path: '/jwt/introspect',
      csrf: 'bearer',
      body,
      handler: (ctx) => answerIntrospection(ctx, options),
      failure: failureResponse,
      refusal: requestError,
    })
  }
}

async function answerToken(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { audience, scope } = await ctx.body()
  if (typeof audience !== 'string' || (scope !== undefined && typeof scope !== 'string'))
    return json({ error: 'invalid_request', error_description: 'Send `audience`, and `scope` as text.' }, 400)
  const issued = await issueToken(ctx, options, { audience, scope })
  if (!issued)
    return json({ error: 'login_required', error_description: 'Sign in first.' }, 401, { 'WWW-Authenticate': 'Bearer realm="token"' })
  const expires_in = issued.expiresAt - Math.floor(ctx.now.getTime() / 1000)
  return json({ access_token: issued.accessToken, token_type: issued.tokenType, expires_in, scope: issued.scope })
}

/** What is wrong with the request itself, a body that is too long or of another type for example, as RFC 6749 section 5.2 says it. */
function requestError(_ctx: Context, { status, message, headers }: HttpError): Response | undefined {
  return [400, 413, 415].includes(status) ? json({ error: 'invalid_request', error_description: message }, status, headers) : undefined
}

function failureResponse(_ctx: Context, { status }: AuthError): Response {
  return json({ error: status < 500 ? 'access_denied' : 'server_error' }, status)
}
