/** The device authorization endpoint (RFC 8628 section 3.1): a device without a browser asks for a code to show. */
import { type Context, json, toBase64Url } from 'authkernel/kernel'
import { createUserCode, digestCode } from './codes.ts'
import { takeStart } from './limits.ts'
import type { ResolvedOptions } from './options.ts'

const lifetime = 600
const interval = 5

/** Handles `POST /oauth/device`. */
export async function startFlow(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await ctx.form()
  const tokens = ctx.service('appTokens')
  const app = tokens.caller(ctx, form)
  if ('error' in app) return json(app.error, app.status, { ...app.headers })
  const { client } = app
  if (!options.apps.has(client.id)) return json({ error: 'unauthorized_client' }, 400)
  const offered = tokens.scopes(client, form.get('scope'))
  const scopes = form.get('scope') ? offered : offered?.filter((scope) => options.scopes?.includes(scope) ?? true)
  if (!scopes?.every((scope) => options.scopes?.includes(scope) ?? true)) return json({ error: 'invalid_scope' }, 400)
  const { allowed, retryAfter } = await takeStart(ctx)
  if (!allowed)
    return json({ error: 'temporarily_unavailable', error_description: 'Too many device codes.' }, 429, {
      'Retry-After': String(retryAfter),
    })

  const deviceCode = toBase64Url(ctx.runtime.random(32))
  const userCode = await createCode(ctx, deviceCode, client.id, [...scopes])
  await ctx.emit('deviceFlowStarted', { clientId: client.id })
  const page = `${ctx.base}/device`
  return json({
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: lifetime,
    interval,
  })
}

async function createCode(ctx: Context, deviceCode: string, clientId: string, scopes: string[]): Promise<string> {
  const until = ctx.now.getTime() + lifetime * 1000
  const row = {
    id: await digestCode(ctx, 'device', deviceCode),
    clientId,
    scopes,
    status: 'pending' as const,
    userId: null,
    attributes: null,
    address: ctx.facts.address?.slice(0, 64) ?? null,
    userAgent: ctx.facts.userAgent ?? null,
    interval,
    polled: ctx.now,
    until: new Date(until),
    expires: new Date(until + lifetime * 1000),
  }
  return createUserCode(ctx.runtime, async (userCode) =>
    ctx.records('deviceCode').create({ ...row, userCode: await digestCode(ctx, 'user', userCode) }),
  )
}
