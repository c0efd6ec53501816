/** Signed authorization requests (RFC 9101): the parameters are claims of a JWT that the client signed, and no other counts. */
import { type Context, NetworkError } from 'authkernel/kernel'
import { clientAlgorithms } from './client-metadata.ts'
import { readClientKeys, takeFetch } from './client-keys.ts'
import type { Client } from './clients.ts'
import { OAuthRefusal } from './errors.ts'

/** Seconds that an object may live at most, and that clocks may differ. */
const maxAge = 3600
const skew = 30
const maxLength = 16_384
const perClient = { max: 300, seconds: 600 }
const types: readonly string[] = ['oauth-authz-req+jwt', 'jwt']
/** Claims about the object itself. */
const own: readonly string[] = ['iss', 'aud', 'exp', 'iat', 'nbf', 'jti']

/**
 * The parameters of a request: those of its object where it brings one, else its own. Throws OAuthRefusal `invalid_request_object` for an object that
 * the client did not sign for this server, and for none where the client must sign.
 */
export async function openRequestObject(ctx: Context, client: Client, params: URLSearchParams): Promise<URLSearchParams> {
  const text = params.get('request')
  if (text === null) {
    if (client.metadata.require_signed_request_object) throw wrongObject('This client must sign its requests (RFC 9101).')
    return params
  }
  if (params.getAll('request').length > 1) throw wrongObject('`request` is repeated.')
  return readObject(ctx, client, text)
}

/** The same for an object at an https address that the client registered (section 5.2). Throws OAuthRefusal `invalid_request_uri` for any other address. */
export async function fetchRequestObject(ctx: Context, client: Client, uri: string): Promise<URLSearchParams> {
  if (!client.metadata.request_uris?.includes(uri)) throw new OAuthRefusal('invalid_request_uri', 'The `request_uri` is not registered.')
  const allowed =
    client.source === 'document'
      ? await takeFetch(ctx, 'authorization-server.request-object', { perNetwork: { max: 60, seconds: 600 }, perServer: perClient })
      : (await ctx.limit.take(`authorization-server.request-object ${client.id}`, perClient)).allowed
  if (!allowed) throw new OAuthRefusal('temporarily_unavailable', 'Too many requests by address.', 429, { 'Retry-After': '600' })
  const text = await ctx
    .service('publicFetch')
    .get(uri, { types: ['application/oauth-authz-req+jwt', 'application/jwt'], limit: maxLength, signal: ctx.signal })
    .then(({ content }) => new TextDecoder().decode(content).trim())
    .catch((error: unknown) => {
      if (!(error instanceof NetworkError)) throw error
      throw new OAuthRefusal('invalid_request_uri', 'The request object could not be fetched.')
    })
  return readObject(ctx, client, text)
}

async function readObject(ctx: Context, client: Client, text: string): Promise<URLSearchParams> {
  const { createLocalJWKSet, errors, jwtVerify } = await import('jose')
  if (text.length > maxLength) throw wrongObject('The request object is too long.')
  const keys = await readClientKeys(ctx, client)
  if (!keys) throw wrongObject('The keys of the client could not be read.')
  const { request_object_signing_alg: algorithm } = client.metadata
  const checked = await jwtVerify(text, createLocalJWKSet(keys as never /* checked as public keys when the client was made */), {
    algorithms: algorithm === undefined ? [...clientAlgorithms] : [algorithm],
    issuer: client.id,
    audience: ctx.base,
    requiredClaims: ['exp'],
    clockTolerance: skew,
    currentDate: ctx.now,
  }).catch((error: unknown) => {
    if (error instanceof errors.JOSEError) throw wrongObject('The request object is not signed by the client for this server, or too old.')
    throw error
  })
  const { payload, protectedHeader } = checked
  // Section 10.8: an assertion by which a client authenticates has `sub` and must not pass for a request.
  if ('sub' in payload || !types.includes((protectedHeader.typ ?? 'jwt').toLowerCase())) throw wrongObject('The JWT is no request object.')
  if ((payload.exp ?? Infinity) > Math.floor(ctx.now.getTime() / 1000) + maxAge + skew)
    throw wrongObject('The request object lives longer than an hour.')
  if (payload['client_id'] !== client.id || 'request' in payload || 'request_uri' in payload)
    throw wrongObject('The request object needs the `client_id` of the client, and has no `request` and `request_uri`.')
  return toParams(payload)
}

/** Lists are repeated parameters, objects are JSON. */
function toParams(claims: Readonly<Record<string, unknown>>): URLSearchParams {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(claims)) {
    if (own.includes(name) || value === null || value === undefined) continue
    const values = name === 'resource' && Array.isArray(value) ? (value as unknown[]) : [value]
    for (const one of values) params.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one))
  }
  return params
}

function wrongObject(why: string): OAuthRefusal {
  return new OAuthRefusal('invalid_request_object', why)
}
