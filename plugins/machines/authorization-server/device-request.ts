/** The device authorization endpoint (RFC 8628 section 3.1): a client without a browser gets a code to show. */
import { type Context, json, toBase64Url } from 'authkernel/kernel'
import { createUserCode } from '../device-flow/codes.ts'
import { takeStart } from '../device-flow/limits.ts'
import { authenticateClient, readForm } from './client-auth.ts'
import type { Client } from './clients.ts'
import { OAuthRefusal } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { type OAuthDeviceCode, pollInterval } from './tables-polled.ts'
import { readWantedAccess, type WantedAccess } from './wanted-access.ts'

export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'
const purpose = 'authorization-server.device'
/** Seconds that a code counts, and that its row stays after that, so that the device learns why. */
const lifetime = 600

/** `POST /oauth2/device_authorization`. */
export async function startDevice(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await readForm(ctx)
  const client = await authenticateClient(ctx, options, form)
  if (!client.metadata.grant_types.includes(deviceGrantType))
    throw new OAuthRefusal('unauthorized_client', 'The client may not use the device flow.')
  const wanted = readWantedAccess(ctx, options, client, form)
  const { allowed, retryAfter } = await takeStart(ctx)
  if (!allowed) throw new OAuthRefusal('temporarily_unavailable', 'Too many device codes.', 429, { 'Retry-After': String(retryAfter) })
  const deviceCode = toBase64Url(ctx.runtime.random(32))
  const userCode = await createCode(ctx, client, wanted, deviceCode)
  const page = `${ctx.base}/oauth2/device`
  const answer = {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: lifetime,
    interval: pollInterval,
  }
  return json(answer, 200, { 'Cache-Control': 'no-store' })
}

/** The row of a code, also when the secret was rotated meanwhile; null: unknown. */
export async function findDeviceCode(ctx: Context, kind: 'device' | 'user', code: string): Promise<OAuthDeviceCode | null> {
  if (kind === 'device' && code.length !== 43) return null
  for (const digest of await ctx.digests(`${purpose}.${kind}`, code)) {
    const row = await ctx.records('oauthDeviceCode').get(kind === 'device' ? digest : { userCode: digest })
    if (row) return row
  }
  return null
}

async function createCode(ctx: Context, client: Client, wanted: WantedAccess, deviceCode: string): Promise<string> {
  const until = ctx.now.getTime() + lifetime * 1000
  const row = {
    id: await ctx.digest(`${purpose}.device`, deviceCode),
    clientId: client.id,
    clientName: client.name,
    ...wanted,
    status: 'pending' as const,
    userId: null,
    attributes: null,
    access: null,
    address: ctx.facts.address?.slice(0, 64) ?? null,
    userAgent: ctx.facts.userAgent ?? null,
    interval: pollInterval,
    polled: ctx.now,
    until: new Date(until),
    expires: new Date(until + lifetime * 1000),
  }
  return createUserCode(ctx.runtime, async (userCode) =>
    ctx.records('oauthDeviceCode').create({ ...row, userCode: await ctx.digest(`${purpose}.user`, userCode) }),
  )
}
