/** Who calls an endpoint: client authentication (RFC 6749 section 2.3, RFC 7523 section 3, OpenID Connect Core section 9). */
import { type Context, equal, sha256, toHex } from 'authkernel/kernel'
import { fitsAgent } from './agent-client.ts'
import { clientAlgorithms } from './client-metadata.ts'
import { readClientKeys } from './client-keys.ts'
import { type Client, findClient } from './clients.ts'
import type { ClientMetadata } from './client-metadata.ts'
import { OAuthRefusal } from './errors.ts'
import { fitsCertificate } from './mutual-tls.ts'
import type { ResolvedOptions } from './options.ts'

/** RFC 8707 section 2, RFC 8693 section 2.1. */
const repeatable: readonly string[] = ['resource', 'audience']
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** Seconds that an assertion may live, and that clocks may differ. */
const maxAssertionAge = 300
const skew = 30

/** A form without repeated fields (RFC 6749 section 3.2). Throws OAuthRefusal `invalid_request`. */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(ctx.request.headers.get('content-type') ?? ''))
    throw new OAuthRefusal('invalid_request', 'Send a form (application/x-www-form-urlencoded).')
  const form = await ctx.form()
  const repeated = [...new Set(form.keys())].some((name) => !repeatable.includes(name) && form.getAll(name).length > 1)
  if (repeated) throw new OAuthRefusal('invalid_request', 'A parameter is repeated.')
  return form
}

/** The client that sent a form. Throws OAuthRefusal `invalid_client` (401) for an unknown one, a wrong secret and another method than the registered one. */
export async function authenticateClient(ctx: Context, options: ResolvedOptions, form: URLSearchParams): Promise<Client> {
  const sent = readCredentials(ctx, form)
  const client = await findClient(ctx, options, sent.id)
  if (client && sent.method === 'none' && isCertificateMethod(client)) {
    if (await fitsCertificate(ctx, options.mutualTls, client)) return client
    throw invalidClient(ctx)
  }
  if (!client || !fitsMethod(client, sent.method)) throw invalidClient(ctx)
  if (client.agent) {
    if (await fitsAgent(ctx, client, sent.secret)) return client
    throw invalidClient(ctx)
  }
  if (sent.method === 'private_key_jwt') await verifyAssertion(ctx, client, sent.secret)
  else if (sent.method !== 'none' && !(await fitsSecret(client, sent.secret))) throw invalidClient(ctx)
  return client
}

function isCertificateMethod({ metadata }: Client): boolean {
  return metadata.token_endpoint_auth_method.endsWith('tls_client_auth')
}

/** One of those that count: a secret that was replaced counts beside its successor for a while. */
async function fitsSecret({ secrets }: Client, sent: string): Promise<boolean> {
  const given = await hash(sent)
  return secrets.some((secret) => equal(given, secret))
}

/** Products that clients were moved from take a secret by header and by form alike. */
function fitsMethod({ metadata, source }: Client, method: SentCredentials['method']): boolean {
  const own = metadata.token_endpoint_auth_method
  return (
    method === own || ((source === 'moved' || source === 'agent') && method.startsWith('client_secret') && own.startsWith('client_secret'))
  )
}

interface SentCredentials {
  method: ClientMetadata['token_endpoint_auth_method']
  id: string
  secret: string
}

function readCredentials(ctx: Context, form: URLSearchParams): SentCredentials {
  const authorization = ctx.request.headers.get('authorization')
  const [id, secret, assertion] = [form.get('client_id') ?? '', form.get('client_secret'), form.get('client_assertion')]
  // RFC 6749 section 2.3: one method per request.
  if ([authorization, secret, assertion].filter((one) => one !== null).length > 1)
    throw new OAuthRefusal('invalid_request', 'The client authenticates twice.')
  if (authorization !== null) {
    const basic = readBasic(/^Basic +(\S+)$/i.exec(authorization)?.[1] ?? '')
    if (!basic || (id !== '' && id !== basic.id)) throw invalidClient(ctx)
    return { method: 'client_secret_basic', ...basic }
  }
  if (assertion !== null) {
    if (form.get('client_assertion_type') !== assertionType) throw invalidClient(ctx)
    const issuer = issuerOfAssertion(assertion)
    if (issuer === undefined || (id !== '' && id !== issuer)) throw invalidClient(ctx)
    return { method: 'private_key_jwt', id: issuer, secret: assertion }
  }
  if (id === '') throw new OAuthRefusal('invalid_request', '`client_id` is missing.')
  return secret === null ? { method: 'none', id, secret: '' } : { method: 'client_secret_post', id, secret }
}

/** RFC 6749 section 2.3.1: both parts are form-encoded. */
function readBasic(text: string): { id: string; secret: string } | undefined {
  try {
    const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(atob(text)) ?? []
    const decode = (part: string): string => decodeURIComponent(part.replaceAll('+', ' '))
    return id === '' ? undefined : { id: decode(id), secret: decode(secret) }
  } catch {
    return undefined
  }
}

/** Says which client's keys to ask; nothing is believed before the signature is checked. */
function issuerOfAssertion(assertion: string): string | undefined {
  try {
    const payload = (assertion.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const { iss } = JSON.parse(atob(payload)) as { iss?: unknown }
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}

/** An assertion is for this server alone, short, and good once. */
async function verifyAssertion(ctx: Context, client: Client, assertion: string): Promise<void> {
  const { createLocalJWKSet, errors, jwtVerify } = await import('jose')
  if (assertion.length > 8192) throw invalidClient(ctx)
  const jwks = await readClientKeys(ctx, client)
  if (!jwks) throw invalidClient(ctx)
  try {
    const { payload } = await jwtVerify(assertion, createLocalJWKSet(jwks as never /* checked as public keys when the client was made */), {
      algorithms: [...clientAlgorithms],
      issuer: client.id,
      subject: client.id,
      // The issuer, so that an assertion for another server is worth nothing here. The address of the endpoint is what older clients send; FAPI 2.0 clients push, and do not.
      audience: client.metadata.require_pushed_authorization_requests ? ctx.base : [ctx.base, `${ctx.base}/oauth2/token`],
      requiredClaims: ['exp', 'jti'],
      clockTolerance: skew,
      currentDate: ctx.now,
    })
    const now = Math.floor(ctx.now.getTime() / 1000)
    const isOne = client.metadata.require_pushed_authorization_requests
      ? typeof payload.aud === 'string'
      : [payload.aud].flat().length === 1
    if (!isOne || (payload.exp ?? Infinity) > now + maxAssertionAge + skew) throw invalidClient(ctx)
    const used = await hash(`${client.id} ${payload.jti}`)
    if (!(await ctx.once.take(`authorization-server.assertion ${used}`, maxAssertionAge + 2 * skew))) throw invalidClient(ctx)
  } catch (error) {
    if (error instanceof errors.JOSEError) throw invalidClient(ctx)
    throw error
  }
}

async function hash(text: string): Promise<string> {
  return toHex(await sha256(text))
}

function invalidClient(ctx: Context): OAuthRefusal {
  const challenge = ctx.request.headers.has('authorization') ? { 'WWW-Authenticate': 'Basic realm="token"' } : {}
  return new OAuthRefusal('invalid_client', 'The client is unknown, or did not prove itself by its registered method.', 401, challenge)
}
