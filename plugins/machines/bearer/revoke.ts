/** Token revocation (RFC 7009): an app signs out. */
import { type Context, json } from 'authkernel/kernel'
import { liveToken } from './authenticate.ts'
import { clientOf } from './client.ts'
import { endSession, sessionOfRefresh } from './family.ts'
import { tellRefused } from './refusals.ts'
import type { ResolvedOptions } from './options.ts'

/** Either token ends the app session, and with it all its tokens. A token that is not live is revoked already: 200. */
export async function revoke(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await ctx.form()
  const app = clientOf(ctx, form)
  if ('error' in app) {
    await tellRefused(ctx, options, 'client')
    return json(app.error, app.status, app.headers)
  }
  const token = form.get('token')
  if (!token) return json({ error: 'invalid_request', error_description: '`token` is missing.' }, 400)
  const live = (await sessionOfRefresh(ctx, app.client.id, token)) ?? (await liveToken(ctx, options, token))?.session
  if (live && live.clientId !== app.client.id) {
    // Another app has the token.
    await tellRefused(ctx, options, 'client', { id: live.id, userId: live.userId, clientId: app.client.id })
    return json({ error: 'invalid_grant' }, 400)
  }
  if (live) await endSession(ctx, live, 'app')
  return new Response(null, { headers: { 'Cache-Control': 'no-store' } })
}
