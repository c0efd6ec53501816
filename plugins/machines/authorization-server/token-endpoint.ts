/** The token endpoint (RFC 6749 section 3.2): codes, refresh tokens, client credentials and tokens of others become tokens. */
import { type Context, json, type TokenAnswer } from 'authkernel/kernel'
import { nonceHeaders, readProofKey } from '../bearer/dpop.ts'
import { authenticateClient, readForm } from './client-auth.ts'
import { redeemAssertion } from './assertion-grant.ts'
import { cibaGrantType } from './ciba-request.ts'
import { giveToClient } from './client-grant.ts'
import type { ClientGrantType } from './client-metadata.ts'
import type { Client } from './clients.ts'
import { redeemCode } from './code-grant.ts'
import { deviceGrantType } from './device-request.ts'
import { OAuthRefusal } from './errors.ts'
import { readThumbprint } from './mutual-tls.ts'
import type { ResolvedOptions } from './options.ts'
import { redeemBackchannel, redeemDevice } from './polled-grants.ts'
import { refreshTokens } from './refresh-grant.ts'
import { never } from './tables.ts'
import type { GrantCall } from './token-answer.ts'
import { exchangeToken } from './token-exchange.ts'

/** The work of each grant type. The client may use it, and has proved itself and its key. */
const grants: Readonly<Record<ClientGrantType, (call: GrantCall) => Promise<TokenAnswer>>> = {
  authorization_code: redeemCode,
  refresh_token: refreshTokens,
  client_credentials: giveToClient,
  'urn:ietf:params:oauth:grant-type:token-exchange': exchangeToken,
  'urn:ietf:params:oauth:grant-type:jwt-bearer': redeemAssertion,
  [cibaGrantType]: redeemBackchannel,
  [deviceGrantType]: redeemDevice,
}

/** `POST /oauth2/token`. */
export async function answerToken(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await readForm(ctx)
  const client = await authenticateClient(ctx, options, form)
  const jkt = await readKey(ctx, options, client)
  const x5t = await readCertificate(ctx, options, client)
  const type = form.get('grant_type')
  if (type === null) throw new OAuthRefusal('invalid_request', '`grant_type` is missing.')
  if (!isGrantType(type))
    throw new OAuthRefusal('unsupported_grant_type', `\`grant_type\` must be one of ${Object.keys(grants).join(', ')}.`)
  if (!client.metadata.grant_types.includes(type)) throw new OAuthRefusal('unauthorized_client', 'The client may not use this grant type.')
  const answer = await grants[type]({ ctx, options, client, form, jkt, x5t })
  await noteUse(ctx, client)
  return json(answer, 200, {
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    ...(ctx.request.headers.has('dpop') && (await nonceHeaders(ctx, options))),
  })
}

function isGrantType(type: string): type is ClientGrantType {
  return Object.hasOwn(grants, type)
}

/** The key that the client proved, before anything is used up; null: none. */
async function readKey(ctx: Context, options: ResolvedOptions, { metadata }: Client): Promise<string | null> {
  const proof = await readProofKey(ctx, options)
  if ('error' in proof) {
    const { error, description, retryAfter } = proof
    const headers = await nonceHeaders(ctx, options)
    throw retryAfter === undefined
      ? new OAuthRefusal(error, description, 400, headers)
      : new OAuthRefusal(error, description, 429, { 'Retry-After': String(retryAfter) })
  }
  if (proof.jkt === null && metadata.dpop_bound_access_tokens)
    throw new OAuthRefusal('invalid_dpop_proof', 'This client must send a DPoP proof.')
  return proof.jkt
}

/** The certificate that the tokens of the client are bound to; null: the client binds none. */
async function readCertificate(ctx: Context, { mutualTls }: ResolvedOptions, { metadata }: Client): Promise<string | null> {
  if (!metadata.tls_client_certificate_bound_access_tokens) return null
  const x5t = await readThumbprint(ctx, mutualTls)
  if (x5t === null) throw new OAuthRefusal('invalid_request', 'This client must send its certificate (mutual TLS).')
  return x5t
}

/** For administrators, once a day; and a registered client that is in use no longer expires. */
async function noteUse(ctx: Context, { id, used }: Client): Promise<void> {
  if (used === undefined || (used !== null && ctx.now.getTime() - used.getTime() <= 86_400_000)) return
  await ctx.records('oauthClient').update(id, { used: ctx.now, expires: never })
}
