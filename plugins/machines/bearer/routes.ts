/** Routes for apps: authorization, tokens, revocation, metadata. */
import { type AuthError, type Context, json, type Kernel } from 'authkernel/kernel'
import { authorize, decide } from './authorize.ts'
import { challenge } from './challenge.ts'
import { asOAuth, clientOf } from './client.ts'
import { keyShown, nonceHeaders } from './dpop.ts'
import { metadataOfBase } from './metadata.ts'
import type { ResolvedOptions } from './options.ts'
import { tellRefused } from './refusals.ts'
import { revoke } from './revoke.ts'
import { parseRefresh } from './tokens.ts'

const metadataPath = '/.well-known/oauth-authorization-server'

/** Adds them. */
export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  // A page says what is wrong, at an address of our own.
  const refused = (ctx: Context, { type, status }: AuthError): Promise<Response> | undefined =>
    type === 'AppRequestRefused' ? ctx.render('error', { error: type, status: String(status) }) : undefined
  kernel.route({ method: 'GET', path: '/oauth/authorize', handler: (ctx) => authorize(ctx, options), failure: refused })
  kernel.route({ method: 'POST', path: '/oauth/authorize', handler: (ctx) => decide(ctx, options) })

  // Without cookies, so that scripts of any origin may call them: a browser's own credentials are worth nothing here.
  const forApps = { csrf: 'bearer' as const, cors: { origins: 'any' as const, headers: ['dpop'] }, body: { bytes: 16_384 }, failure }
  kernel.route({ method: 'POST', path: '/oauth/token', ...forApps, handler: (ctx) => asOAuth(() => token(ctx, options)) })
  kernel.route({ method: 'POST', path: '/oauth/revoke', ...forApps, handler: (ctx) => asOAuth(() => revoke(ctx, options)) })

  // In place of `/session`, which reads cookies and is for pages of this origin.
  kernel.route({
    method: 'GET',
    path: '/oauth/session',
    ...forApps,
    async handler(ctx) {
      const session = await ctx.currentSession()
      return session ? json(session) : challenge(ctx, options, undefined)
    },
  })

  const describe = { method: 'GET' as const, at: 'root' as const, public: { maxAge: 300 }, cors: { origins: 'any' as const }, failure }
  kernel.route({ ...describe, path: metadataPath, handler: async (ctx) => metadataOf(await ctx.service('appTokens').metadata(ctx)) })
  const { basePath } = kernel.config
  if (basePath === '/') return
  kernel.route({
    ...describe,
    path: `${metadataPath}${basePath}` as `/${string}`,
    handler: async (ctx) => metadataOf(metadataOfBase(ctx, await ctx.service('appTokens').metadata(ctx))),
  })
}

async function token(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await ctx.form()
  const app = clientOf(ctx, form)
  if ('error' in app) {
    await tellRefused(ctx, options, 'client')
    return json(app.error, app.status, app.headers)
  }
  const headers = {
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    ...(ctx.request.headers.has('dpop') && (await nonceHeaders(ctx, options))),
  }
  // Before anything is used up.
  const shown = await keyShown(ctx, options)
  if ('error' in shown) {
    const { error, description: error_description, retryAfter } = shown
    if (error !== 'use_dpop_nonce') await tellRefused(ctx, options, 'proof', { clientId: app.client.id })
    if (retryAfter === undefined) return json({ error, error_description }, 400, headers)
    return json({ error, error_description }, 429, { ...headers, 'Retry-After': String(retryAfter) })
  }
  const answer = await ctx.service('appTokens').grant(ctx, app.client, form)
  // A device that asks again and again is not refused.
  if (answer.error !== undefined && !['authorization_pending', 'slow_down'].includes(answer.error))
    await tellRefused(ctx, options, answer.error, { id: parseRefresh(form.get('refresh_token') ?? '')?.session, clientId: app.client.id })
  return json(answer, answer.error === undefined ? 200 : 400, headers)
}

function metadataOf(members: Readonly<Record<string, unknown>>): Response {
  return new Response(JSON.stringify(members), { headers: { 'Content-Type': 'application/json' } })
}

function failure(_ctx: Context, { status }: AuthError): Response {
  return json({ error: status < 500 ? 'invalid_request' : 'server_error' }, status, { 'Cache-Control': 'no-store' })
}
