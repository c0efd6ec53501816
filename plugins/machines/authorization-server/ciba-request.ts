/** Client-initiated backchannel authentication (CIBA Core 1.0): a client asks for a user who is elsewhere, and the user answers on the pages of this site. */
import { type Context, json, toBase64Url, type User } from 'authkernel/kernel'
import { noteRequest } from './ciba-notice.ts'
import { payForQuestion } from './agent-client.ts'
import { authenticateClient, readForm } from './client-auth.ts'
import type { Client } from './clients.ts'
import { OAuthRefusal } from './errors.ts'
import type { CibaOptions, ResolvedOptions } from './options.ts'
import { openRequestObject } from './request-object.ts'
import { scopesWithoutPage } from './organization-consent.ts'
import { allowedScopes } from './rights.ts'
import { type OAuthBackchannelRecord, pollInterval } from './tables-polled.ts'
import { readWantedAccess, type WantedAccess } from './wanted-access.ts'

export const cibaGrantType = 'urn:openid:params:grant-type:ciba'
const purpose = 'authorization-server.ciba'
/** Seconds that a row stays after its end, so that the client learns why. */
const keptSeconds = 600
/** Questions that one user gets in ten minutes: more would be a way to make the user tired of them. */
const perUser = { max: 10, seconds: 600 }

/** `POST /oauth2/bc-authorize`. */
export async function startBackchannel(ctx: Context, options: ResolvedOptions, ciba: CibaOptions): Promise<Response> {
  const form = await readForm(ctx)
  const client = await authenticateClient(ctx, options, form)
  if (!client.metadata.grant_types.includes(cibaGrantType))
    throw new OAuthRefusal('unauthorized_client', 'The client may not use backchannel authentication.')
  const params = await openRequestObject(ctx, client, form)
  const asked = readQuestion(ctx, options, client, params)
  const user = client.agent ? await findOwner(ctx, client.agent, params) : await findUser(ctx, ciba, client, params)
  if (client.agent) await payForQuestion(ctx, client)
  await assertUserCode(ctx, ciba, client, user, params)
  const { allowed, retryAfter } = await ctx.limit.take(`authorization-server.ciba ${user.id}`, perUser)
  if (!allowed)
    throw new OAuthRefusal('temporarily_unavailable', 'The user was asked too often.', 429, { 'Retry-After': String(retryAfter) })
  const id = toBase64Url(ctx.runtime.random(32))
  const until = new Date(ctx.now.getTime() + asked.seconds * 1000)
  const row = await ctx.records('oauthBackchannel').create({
    id: await ctx.digest(purpose, id),
    userId: user.id,
    clientId: client.id,
    clientName: client.name,
    scopes: await allowedScopes(ctx, options, user, client, await scopesWithoutPage(ctx, options, client, user.id, asked.scopes)),
    audiences: asked.audiences,
    details: asked.details,
    binding: asked.binding,
    needsSecondFactor: asked.needsSecondFactor,
    ping: asked.notification === undefined ? null : { id, token: asked.notification },
    status: 'pending',
    attributes: null,
    access: null,
    interval: pollInterval,
    polled: new Date(ctx.now.getTime() - pollInterval * 1000),
    until,
    expires: new Date(until.getTime() + keptSeconds * 1000),
  })
  noteRequest(ctx, ciba, user, row)
  return json({ auth_req_id: id, expires_in: asked.seconds, interval: pollInterval }, 200, { 'Cache-Control': 'no-store' })
}

/** The row of an `auth_req_id`; null: unknown. */
export async function findBackchannel(ctx: Context, id: string): Promise<OAuthBackchannelRecord | null> {
  for (const digest of id.length === 43 ? await ctx.digests(purpose, id) : []) {
    const row = await ctx.records('oauthBackchannel').get(digest)
    if (row) return row
  }
  return null
}

interface Question extends WantedAccess {
  binding: string | null
  needsSecondFactor: boolean
  notification: string | undefined
  seconds: number
}

function readQuestion(ctx: Context, options: ResolvedOptions, client: Client, params: URLSearchParams): Question {
  const one = (name: string): string | undefined => params.get(name) ?? undefined
  const binding = one('binding_message')
  // The user compares it with what the other device shows: short, and without marks that turn text around.
  if (binding !== undefined && (binding.trim() === '' || binding.length > 60 || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(binding)))
    throw new OAuthRefusal('invalid_binding_message', 'The binding_message must be 1 to 60 visible characters.')
  const expiry = one('requested_expiry')
  if (expiry !== undefined && !/^[1-9]\d{0,4}$/.test(expiry))
    throw new OAuthRefusal('invalid_request', 'requested_expiry must be a number of seconds.')
  const notification = one('client_notification_token')
  const isPing = client.metadata.backchannel_token_delivery_mode === 'ping'
  if (isPing && !/^[\w.~+/=-]{16,1024}$/.test(notification ?? ''))
    throw new OAuthRefusal('invalid_request', 'A client with ping needs a client_notification_token of 16 to 1024 characters.')
  const wanted = readWantedAccess(ctx, options, client, params)
  if (!client.agent && !wanted.scopes.includes('openid')) throw new OAuthRefusal('invalid_scope', 'The scope needs openid.')
  // An agent acts at resources; who its owner is, it knows.
  if (client.agent && (wanted.scopes.length === 0 || wanted.audiences.includes(ctx.base)))
    throw new OAuthRefusal('invalid_scope', 'Name scopes of a resource that the agent has.')
  return {
    ...wanted,
    binding: binding ?? null,
    needsSecondFactor: (one('acr_values') ?? '').split(' ')[0] === 'urn:authkernel:acr:2fa',
    notification: isPing ? notification : undefined,
    seconds: Math.min(Number(expiry ?? 300), 600),
  }
}

/** An agent asks its owner, and no other user. A hint may be absent; one that names another user does not count. */
async function findOwner(ctx: Context, { ownerId }: { ownerId: string }, params: URLSearchParams): Promise<User & { id: string }> {
  const user = await ctx.store?.getUser(ownerId)
  const hint = params.get('login_hint')
  const isNamed = hint === null || (user !== null && user !== undefined && (hint === user.email || hint === user.id))
  if (!user || !isNamed || params.has('id_token_hint') || params.has('login_hint_token'))
    throw new OAuthRefusal('unknown_user_id', 'An agent asks its owner alone.')
  return user
}

/** Exactly one hint (section 7.1). Throws OAuthRefusal `unknown_user_id`. */
async function findUser(
  ctx: Context,
  { findUser: find }: CibaOptions,
  client: Client,
  params: URLSearchParams,
): Promise<User & { id: string }> {
  const [hint, token] = [params.get('login_hint'), params.get('id_token_hint')]
  if ((hint === null) === (token === null) || params.has('login_hint_token'))
    throw new OAuthRefusal('invalid_request', 'Send login_hint or id_token_hint.')
  const user = token === null ? await findByHint(ctx, find, hint as string) : await findByToken(ctx, client, token)
  if (!user?.id || !(await ctx.access.allows(user.id, 'appToken'))) throw new OAuthRefusal('unknown_user_id', 'The hint names no user.')
  return { ...user, id: user.id }
}

async function findByHint(ctx: Context, find: CibaOptions['findUser'], hint: string): Promise<User | null | undefined> {
  if (hint.length > 254) return null
  if (find) {
    const id = await find({ hint, ctx })
    return id === undefined ? null : ctx.store?.getUser(id)
  }
  const user = ctx.store?.supports('getUserByEmail') ? await ctx.store.getUserByEmail(hint) : null
  // An address that was only typed belongs to no user.
  return (user as { emailVerified?: unknown } | null)?.emailVerified ? user : null
}

async function findByToken(ctx: Context, client: Client, token: string): Promise<User | null | undefined> {
  const claims = await ctx.service('signingKeys').open(ctx, 'JWT', token)
  const fits = claims?.['iss'] === ctx.base && claims['aud'] === client.id && client.metadata.subject_type === 'public'
  return fits ? ctx.store?.getUser(String(claims['sub'])) : null
}

async function assertUserCode(
  ctx: Context,
  { checkUserCode }: CibaOptions,
  client: Client,
  user: User & { id: string },
  params: URLSearchParams,
): Promise<void> {
  if (!checkUserCode || !client.metadata.backchannel_user_code_parameter) return
  const code = params.get('user_code')
  if (code === null) throw new OAuthRefusal('missing_user_code', 'The user_code is missing.')
  // Else a client could try codes of a user.
  const { allowed } = await ctx.limit.take(`authorization-server.user-code ${user.id}`, perUser)
  if (!allowed || code.length > 100 || (await checkUserCode({ user, code, ctx })) !== true)
    throw new OAuthRefusal('invalid_user_code', 'The user_code is wrong.')
}
