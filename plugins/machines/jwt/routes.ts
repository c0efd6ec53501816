/** Routes: the public keys, tokens for pages and API keys, introspection. */
import { type AuthError, type Context, HttpError, json, type Kernel } from 'authkernel/kernel'
import { introspect } from './introspect.ts'
import { issueToken } from './issue.ts'
import { metadataPath, wholeMetadata } from './metadata.ts'
import { keySet, signingKeys } from './keys.ts'
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
    failure,
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
    failure,
  })
  if (options.routes) {
    const body = { bytes: 8192, types: ['json' as const, 'form' as const] }
    const handler = (ctx: Context): Promise<Response> => asOAuth(token(ctx, options))
    kernel.route({ method: 'POST', path: '/jwt/token', csrf: 'origin', body, handler, failure })
    // Programs send no Origin. They have no cookies here, so that another site's page gets nothing by it.
    kernel.route({
      method: 'POST',
      path: '/jwt/key-token',
      csrf: 'bearer',
      cors: { origins: 'any', headers: ['x-api-key', 'dpop'] },
      body,
      handler,
      failure,
    })
  }
  if (options.introspection) {
    const body = { bytes: 16_384, types: ['form' as const] }
    kernel.route({
      method: 'POST',
      path: '/jwt/introspect',
      csrf: 'bearer',
      body,
      handler: (ctx) => asOAuth(introspect(ctx, options)),
      failure,
    })
  }
}

async function token(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { audience, scope } = await ctx.body()
  if (typeof audience !== 'string' || (scope !== undefined && typeof scope !== 'string'))
    return json({ error: 'invalid_request', error_description: 'Send `audience`, and `scope` as text.' }, 400)
  const issued = await issueToken(ctx, options, { audience, scope })
  if (!issued)
    return json({ error: 'login_required', error_description: 'Sign in first.' }, 401, { 'WWW-Authenticate': 'Bearer realm="token"' })
  const expires_in = issued.expiresAt - Math.floor(ctx.now.getTime() / 1000)
  return json({ access_token: issued.accessToken, token_type: issued.tokenType, expires_in, scope: issued.scope })
}

/** What is wrong with the request itself, a body that is too long for example, as RFC 6749 section 5.2 says it. */
async function asOAuth(work: Promise<Response>): Promise<Response> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof HttpError) || (error.status !== 400 && error.status !== 413)) throw error
    return json({ error: 'invalid_request', error_description: error.message }, error.status, error.headers)
  }
}

function failure(_ctx: Context, { status }: AuthError): Response {
  return json({ error: status < 500 ? 'access_denied' : 'server_error' }, status)
}
