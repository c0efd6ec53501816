/** Dynamic client registration (RFC 7591), and how a registered client reads, changes and deletes itself (RFC 7592). */
import { type Context, equal, json, networksOf } from 'authkernel/kernel'
import { type ClientMetadata, readClientMetadata, signingMembers } from './client-metadata.ts'
import { type ClientActor, deleteClient, forgetConsents, looksSame, noteChange } from './client-administration.ts'
import { hashSecret, labelOf, makeClientId, makeSecret, newClientRow } from './clients.ts'
import { OAuthRefusal } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import type { OAuthClientRecord } from './tables.ts'
import { algorithmFor } from './tokens.ts'

/** Options of registration with their defaults. */
export type Registration = NonNullable<ResolvedOptions['registration']>

const clientItself: ClientActor = { by: 'client', userId: null, reason: '' }

/** `POST /oauth2/register`. */
export async function registerClient(ctx: Context, options: ResolvedOptions, registration: Registration): Promise<Response> {
  await assertMayRegister(ctx, registration)
  const metadata = withOwnAlgorithm(ctx, readClientMetadata(await ctx.body(), 'registration'))
  assertBindable(options, metadata)
  if (metadata.subject_type === 'pairwise') throw new OAuthRefusal('invalid_client_metadata', 'A registered client has public subjects.')
  const clients = ctx.records('oauthClient')
  if ((await clients.count({ source: 'registration' }, { max: registration.max })) >= registration.max)
    throw new OAuthRefusal('temporarily_unavailable', 'There are too many clients.', 503, { 'Retry-After': '3600' })
  const secret = metadata.token_endpoint_auth_method.startsWith('client_secret') ? makeSecret(ctx) : undefined
  const token = makeSecret(ctx)
  const row = await clients.create({
    id: makeClientId(ctx),
    ...newClientRow({
      metadata,
      source: 'registration',
      created: ctx.now,
      secret: secret === undefined ? null : await hashSecret(secret),
      registration: await hashSecret(token),
      expires: new Date(ctx.now.getTime() + registration.unused * 1000),
    }),
  })
  await ctx.emit('clientRegistered', { clientId: row.id, name: metadata.client_name })
  return json(
    {
      ...describe(ctx, row),
      ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
      registration_access_token: token,
    },
    201,
    {
      'Cache-Control': 'no-store',
    },
  )
}

/** `GET /oauth2/register/:client`. */
export async function readRegistration(ctx: Context): Promise<Response> {
  return json(describe(ctx, await findOwn(ctx)), 200, { 'Cache-Control': 'no-store' })
}

/** `PUT /oauth2/register/:client` (RFC 7592 section 2.2): the metadata is replaced as a whole. The method of authentication stays, so that no secret is needed again. */
export async function changeRegistration(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const row = await findOwn(ctx)
  const body = await ctx.body()
  if (body['client_id'] !== row.id) throw new OAuthRefusal('invalid_client_metadata', '`client_id` must be that of the client.')
  const metadata = withOwnAlgorithm(ctx, readClientMetadata(body, 'registration'))
  assertBindable(options, metadata)
  if (metadata.token_endpoint_auth_method !== row.metadata.token_endpoint_auth_method || metadata.subject_type === 'pairwise')
    throw new OAuthRefusal('invalid_client_metadata', '`token_endpoint_auth_method` and `subject_type` cannot change: register again.')
  // What users allowed was for the client as they saw it.
  const isSame = looksSame(metadata, row.metadata)
  if (!isSame) await forgetConsents(ctx, row.id)
  const change = { metadata, label: labelOf(metadata), version: row.version + 1 }
  const written = await ctx.records('oauthClient').update(row.id, change, { if: { version: row.version, disabled: null } })
  if (!written) throw new OAuthRefusal('invalid_client_metadata', 'The client was changed at the same moment. Read it and try again.', 409)
  // Again: what was allowed between the two was for the client as it was.
  if (!isSame) await forgetConsents(ctx, row.id)
  await noteChange(ctx, written, 'updated', clientItself)
  return json(describe(ctx, written), 200, { 'Cache-Control': 'no-store' })
}

/** `DELETE /oauth2/register/:client`: the client goes with its grants and tokens. */
export async function deleteRegistration(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { id } = await findOwn(ctx)
  await deleteClient(ctx, options, id, clientItself)
  return new Response(null, { status: 204, headers: { 'Cache-Control': 'no-store' } })
}

async function assertMayRegister(ctx: Context, { tokens, perNetwork }: Registration): Promise<void> {
  const network = ctx.clientAddress === undefined ? '' : (networksOf(ctx.clientAddress)[0]?.key ?? '')
  const { allowed, retryAfter } = await ctx.limit.take(`authorization-server.register ${network}`, perNetwork)
  if (!allowed)
    throw new OAuthRefusal('temporarily_unavailable', 'Too many registrations of this network.', 429, { 'Retry-After': String(retryAfter) })
  if (tokens.length === 0) return
  const given = await hashSecret(bearerOf(ctx))
  const known = await Promise.all(tokens.map(hashSecret))
  if (!known.some((token) => equal(token, given)))
    throw new OAuthRefusal('invalid_token', 'Registration needs an initial access token.', 401, {
      'WWW-Authenticate': 'Bearer error="invalid_token"',
    })
}

/** The client that a registration access token opens (RFC 7592 section 3). One that an administrator disabled changes nothing. */
async function findOwn(ctx: Context): Promise<OAuthClientRecord> {
  const row = await ctx.records('oauthClient').get(ctx.params['client'] ?? '')
  if (!row || row.registration === null || row.disabled || !equal(row.registration, await hashSecret(bearerOf(ctx)))) throw unknownClient()
  return row
}

function bearerOf(ctx: Context): string {
  return /^Bearer +(\S+)$/i.exec(ctx.request.headers.get('authorization') ?? '')?.[1] ?? ''
}

function describe(ctx: Context, { id, metadata, created }: OAuthClientRecord): Record<string, unknown> {
  return {
    client_id: id,
    client_id_issued_at: Math.floor(created.getTime() / 1000),
    id_token_signed_response_alg: ctx.service('signingKeys').algorithm,
    ...metadata,
    response_types: ['code'],
    registration_client_uri: `${ctx.base}/oauth2/register/${id}`,
  }
}

/** A wish for an algorithm that the server has no key for is replaced, and the answer says so (RFC 7591 section 3.2.1). */
function withOwnAlgorithm(ctx: Context, metadata: ClientMetadata): ClientMetadata {
  const keys = ctx.service('signingKeys')
  const named = signingMembers.filter((name) => metadata[name] !== undefined)
  return { ...metadata, ...Object.fromEntries(named.map((name) => [name, algorithmFor(keys, metadata[name])])) }
}

/** Where no certificate is read, the client could not get one token. */
function assertBindable({ mutualTls }: ResolvedOptions, metadata: ClientMetadata): void {
  if (metadata.tls_client_certificate_bound_access_tokens && !mutualTls)
    throw new OAuthRefusal('invalid_client_metadata', 'Tokens are not bound to certificates here: use DPoP.')
}

function unknownClient(): OAuthRefusal {
  return new OAuthRefusal('invalid_token', 'The client or its registration access token is unknown.', 401, {
    'WWW-Authenticate': 'Bearer error="invalid_token"',
  })
}
