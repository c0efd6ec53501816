/** The device asks for its tokens (RFC 8628 sections 3.4 and 3.5). */
import type { AppClient, AppTokens, Context, TokenAnswer } from 'authkernel/kernel'
import { rowOf } from './codes.ts'
import type { DeviceCode } from './table.ts'

export const grantType = 'urn:ietf:params:oauth:grant-type:device_code'
/** Seconds that a device which asks too often waits longer, for good. */
const slower = 5

export async function poll(ctx: Context, tokens: AppTokens, client: AppClient, form: URLSearchParams): Promise<TokenAnswer> {
  const code = form.get('device_code')
  if (!code) return { error: 'invalid_request', error_description: '`device_code` is needed.' }
  const row = code.length === 43 ? await rowOf(ctx, 'device', code) : null
  if (!row || row.clientId !== client.id) return { error: 'invalid_grant' }
  if (row.until <= ctx.now) return { error: 'expired_token' }
  if (row.status === 'denied') return { error: 'access_denied' }
  if (row.status === 'pending') return wait(ctx, row)
  const { id, userId, attributes, scopes, access } = row
  if (userId === null) return { error: 'invalid_grant' }
  // In one write with the app session: one of several polls gets the tokens, and what ends the sessions of the person comes before or after.
  return tokens.issue(ctx, { client, userId, attributes, scopes, access, by: 'device' }, [
    { record: 'deviceCode', take: id, if: { status: 'approved' } },
  ])
}

async function wait(ctx: Context, { id, interval, polled }: DeviceCode): Promise<TokenAnswer> {
  const codes = ctx.records('deviceCode')
  const early = ctx.now.getTime() - polled.getTime() < interval * 1000
  // Two polls at the same moment are too many as well.
  if (!early && (await codes.update(id, { polled: ctx.now }, { if: { polled } }))) return { error: 'authorization_pending' }
  await codes.increment(id, 'interval', slower, { set: { polled: ctx.now } })
  return { error: 'slow_down' }
}
