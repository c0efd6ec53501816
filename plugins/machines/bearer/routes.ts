/** Routes for apps: authorization, tokens, revocation, metadata. */
import { type AuthError, type Context, json, type Kernel } from 'authkernel/kernel'
import { answerConsent, startAuthorization } from './authorize.ts'
import { challengeApp } from './challenge.ts'
import { answerAsOAuth, answerRevocation, answerToken, metadataOfBase } from './endpoints.ts'
import type { ResolvedOptions } from './options.ts'

const metadataPath = '/.well-known/oauth-authorization-server'

export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  // The error page says what is wrong, at an address of our own.
  const failure = (ctx: Context, { type, status }: AuthError): Promise<Response> | undefined =>
    type === 'AppRequestRefused' ? ctx.render('error', { error: type, status: String(status) }) : undefined
  kernel.route({ method: 'GET', path: '/oauth/authorize', handler: (ctx) => startAuthorization(ctx, options), failure })
  kernel.route({ method: 'POST', path: '/oauth/authorize', handler: (ctx) => answerConsent(ctx, options) })

  // Without cookies, so that scripts of any origin may call them: a browser's own credentials are worth nothing here.
  const forApps = {
    csrf: 'bearer' as const,
    cors: { origins: 'any' as const, headers: ['dpop'] },
    body: { bytes: 16_384 },
    failure: failureResponse,
  }
  kernel.route({ method: 'POST', path: '/oauth/token', ...forApps, handler: (ctx) => answerAsOAuth(() => answerToken(ctx, options)) })
  kernel.route({ method: 'POST', path: '/oauth/revoke', ...forApps, handler: (ctx) => answerAsOAuth(() => answerRevocation(ctx, options)) })

  // In place of `/session`, which reads cookies and is for pages of this origin.
  kernel.route({
    method: 'GET',
    path: '/oauth/session',
    ...forApps,
    async handler(ctx) {
      const session = await ctx.currentSession()
      return session ? json(session) : challengeApp(ctx, options, undefined)
    },
  })

  const describe = {
    method: 'GET' as const,
    at: 'root' as const,
    public: { maxAge: 300 },
    cors: { origins: 'any' as const },
    failure: failureResponse,
  }
  kernel.route({ ...describe, path: metadataPath, handler: async (ctx) => metadataOf(await ctx.service('appTokens').metadata(ctx)) })
  const { basePath } = kernel.config
  if (basePath === '/') return
  kernel.route({
    ...describe,
    // `authorizationServerPlugin` has its own issuer there.
    fallback: true,
    path: `${metadataPath}${basePath}` as `/${string}`,
    handler: async (ctx) => metadataOf(metadataOfBase(ctx, await ctx.service('appTokens').metadata(ctx))),
  })
}

function metadataOf(members: Readonly<Record<string, unknown>>): Response {
  return new Response(JSON.stringify(members), { headers: { 'Content-Type': 'application/json' } })
}

function failureResponse(_ctx: Context, { status }: AuthError): Response {
  return json({ error: status < 500 ? 'invalid_request' : 'server_error' }, status, { 'Cache-Control': 'no-store' })
}
