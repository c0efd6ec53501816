/** The code for tokens, and the tokens checked (RFC 6749 section 4.1.3, OpenID Connect Core 3.1.3). */
import { type AnyContext, bytes, type Context, type ReadAnswer, type TokenEndpoint, type TokenSet } from 'authkernel/kernel'
import { toResponse, isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import * as oauth from 'oauth4webapi'
import type { Flow } from './checks.ts'
import { authenticationOf, oauthClient } from './client.ts'
import type { Binding } from './dpop.ts'
import { Refusal, type Secrets } from './errors.ts'
import { checkIdToken } from './id-token.ts'
import { decodeClaims, parseJson, readJson } from './json.ts'
import { verifySignature } from './keys.ts'
import { dpopOf, fillTemplate, templateNames, type OAuthProvider, type TemplateValues, tokenOf, tokenResource } from './provider.ts'
import { endpointOf, fetchOf, readOf } from './server.ts'
import { redirectUriOf } from './start.ts'

const maxToken = 65_536
const tokenNames = ['access_token', 'refresh_token', 'id_token']
const tokenAnswer = 'The answer of the token endpoint'

/** A callback that is checked, on its way to an identity. */
export interface Attempt {
  readonly ctx: Context
  readonly provider: OAuthProvider
  readonly server: oauth.AuthorizationServer
  readonly params: URLSearchParams
  readonly flow: Flow
  readonly secrets: Secrets
  readonly clientSecret: string | undefined
}

/** The same with what the exchange brought; `server` is of the issuer that the token turned out to be from. */
export interface TokenExchange extends Attempt {
  readonly tokens: TokenSet
  /** Claims of the verified ID token (oidc). */
  readonly claims: JsonObject | undefined
}

/** Exchanges the code. Throws `Refusal`, NetworkError and the errors of oauth4webapi and jose. */
export async function exchangeCode(attempt: Attempt): Promise<TokenExchange> {
  const { ctx, provider, params, flow, secrets, clientSecret } = attempt
  const client = oauthClient(ctx, provider)
  // State, `iss` (RFC 9207) and `error`.
  const answer = oauth.validateAuthResponse(attempt.server, client, params, flow.state ?? oauth.skipStateCheck)
  const endpoint = tokenOf(provider)
  const binding = await bindingOf(ctx, provider, attempt.server)
  if (binding) secrets.add(binding.key)
  const ask = async (): Promise<JsonObject> => {
    const response = endpoint.request
      ? await callHostRequest(attempt, endpoint.request)
      : await requestTokens(attempt, client, answer, binding)
    return tokenBody(response, endpoint, provider)
  }
  const body = await decryptAnswer(provider, await (binding ? binding.once(ask) : ask()), secrets)

  // An OAuth 2.0 provider identifies people by its userinfo; an ID token beside it is stored and believed for nothing.
  const { id_token: idToken } = body
  const oidc = provider.type === 'oidc'
  const server = oidc ? serverOfToken(attempt, idToken) : attempt.server
  const expected: oauth.ProcessAuthorizationCodeResponseOptions = { requireIdToken: oidc }
  if (flow.nonce !== undefined) expected.expectedNonce = flow.nonce
  if (oidc && flow.maxAge !== undefined) expected.maxAge = flow.maxAge
  const processed = await oauth.processAuthorizationCodeResponse(server, client, asResponse(oidc ? body : withoutIdToken(body)), expected)
  checkTokenType(processed, binding)
  const tokens = withExpiry(processed, ctx)
  if (!oidc && typeof idToken === 'string') tokens.id_token = idToken
  if (binding) tokens.dpop_key = binding.key
  if (!oidc) return { ...attempt, tokens, claims: undefined }

  const { header, payload } = await verifySignature(
    { ctx, provider, server, clientSecret },
    idToken as string,
    client.id_token_signed_response_alg,
  )
  const claims = parseJson(payload, 'The ID token')
  await checkIdToken(header, claims, {
    clientId: client.client_id,
    accessToken: processed.access_token,
    code: answer.get('code') ?? undefined,
    now: Math.floor(ctx.runtime.now() / 1000),
  })
  return { ...attempt, server, tokens, claims }
}

/** How tokens of this provider are bound; undefined: they are not. `known`: the key of former tokens. */
export async function bindingOf(
  ctx: AnyContext,
  provider: OAuthProvider,
  server: oauth.AuthorizationServer,
  known?: string,
): Promise<Binding | undefined> {
  const algorithm = dpopOf(provider)
  if (!algorithm) return undefined
  return (await import('./dpop.ts')).bindTokens(oauthClient(ctx, provider), algorithm, server.dpop_signing_alg_values_supported, known)
}

/** Throws `Refusal`. A bearer token where a bound one was asked for is weaker than the host wants. One that is bound to another key is of no use. */
export function checkTokenType({ token_type: type }: { token_type?: string | undefined }, binding: Binding | undefined): void {
  if (type !== (binding ? 'dpop' : 'bearer')) throw new Refusal(`The token endpoint answered with the token type "${type}".`)
}

/** The answer with its ID token decrypted; what must not be logged goes to `secrets`. Throws `Refusal` and the errors of jose. */
export async function decryptAnswer(provider: OAuthProvider, body: JsonObject, secrets: Secrets): Promise<JsonObject> {
  for (const name of tokenNames) if (typeof body[name] === 'string') secrets.add(body[name])
  const { id_token: token } = body
  if (provider.decryptionKey === undefined || typeof token !== 'string') return body
  const { id_token_encrypted_response_alg: alg, id_token_encrypted_response_enc: enc } = provider.client ?? {}
  const inner = await (await import('./jwe.ts')).decryptToken(provider, token, { alg, enc }, 'The ID token')
  secrets.add(inner)
  return { ...body, id_token: inner }
}

async function requestTokens(
  { ctx, provider, server, flow, clientSecret }: Attempt,
  client: oauth.Client,
  answer: URLSearchParams,
  binding: Binding | undefined,
): Promise<ReadAnswer> {
  const values: TemplateValues = templateNames(provider)
  values.clientSecret = clientSecret
  const { href } = endpointOf(server, 'token_endpoint', provider, values)
  // Some want the secret in the query of this one URL.
  const located = href === server.token_endpoint ? server : { ...server, token_endpoint: href }
  const extra = Object.entries(tokenOf(provider).params ?? {}).map(([name, value]): [string, string] => [name, fillTemplate(value, values)])
  const options: Parameters<typeof oauth.authorizationCodeGrantRequest>[6] = {
    additionalParameters: new URLSearchParams([...extra, ...tokenResource(provider)]),
    // Endpoints were checked; what may be plain http is decided there.
    [oauth.allowInsecureRequests]: true,
    // oauth4webapi types the options of its fetch narrower than `RequestInit`.
    [oauth.customFetch]: readOf(ctx, provider) as never,
  }
  if (binding) options.DPoP = binding.handle
  const authentication = authenticationOf(provider, located, clientSecret)
  const redirectUri = redirectUriOf(ctx, provider)
  const response: unknown = await oauth.authorizationCodeGrantRequest(
    located,
    client,
    authentication,
    answer,
    redirectUri,
    flow.verifier ?? oauth.nopkce,
    options,
  )
  return response as ReadAnswer
}

async function callHostRequest(
  { ctx, provider, params, flow: { verifier, nonce, state }, clientSecret }: Attempt,
  request: NonNullable<TokenEndpoint['request']>,
): Promise<ReadAnswer> {
  const result: unknown = await request({
    params: Object.fromEntries(params),
    checks: {
      ...(verifier !== undefined && { code_verifier: verifier }),
      ...(nonce !== undefined && { nonce }),
      ...(state !== undefined && { state }),
    },
    redirectUri: redirectUriOf(ctx, provider),
    provider,
    clientSecret,
    fetch: fetchOf(ctx, provider),
  })
  const tokens = isJsonObject(result) ? result['tokens'] : undefined
  if (!isJsonObject(tokens)) throw new Refusal(`\`token.request\` of provider "${provider.id}" returned no { tokens }.`)
  const content = bytes(JSON.stringify({ token_type: 'bearer', ...tokens }))
  return { status: 200, statusText: '', headers: new Headers({ 'content-type': 'application/json' }), content }
}

/** Body of an answer of the token endpoint. Throws `Refusal` and ResponseBodyError. */
export async function tokenBody(read: ReadAnswer, endpoint: TokenEndpoint, provider: OAuthProvider): Promise<JsonObject> {
  const answer = (endpoint.conform && (await endpoint.conform(toResponse(read)))) || read
  if (answer.status !== 200) {
    const fault = await readJson('content' in answer ? answer : answer.clone(), tokenAnswer, false).catch(() => undefined)
    throw fault ? errorAnswer(fault, answer) : new Refusal(`The token endpoint answered with status ${answer.status}.`, answer.status)
  }
  const strict = provider.type === 'oidc' && !endpoint.conform
  const received = withoutNulls(await readJson(answer, tokenAnswer, strict))
  const body: JsonObject = endpoint.defaults ? { ...endpoint.defaults, ...received } : received
  // Some servers report errors with status 200.
  if (body['error'] !== undefined) throw errorAnswer(body, answer)
  const seconds = body['expires_in']
  if (seconds !== undefined && typeof seconds !== 'number' && !(typeof seconds === 'string' && /^\d{1,12}$/.test(seconds)))
    throw new Refusal('The token endpoint returned an `expires_in` that is no number of seconds.')
  for (const name of tokenNames) {
    const token = body[name]
    if (typeof token === 'string' && (token.length > maxToken || /\p{Cc}/u.test(token))) {
      throw new Refusal(`The token endpoint answered with an ${name} that is too long or holds control characters.`)
    }
  }
  return body
}

// RFC 6749 section 5.2.
function errorAnswer(body: JsonObject, answer: Response | ReadAnswer): Error {
  const response = 'content' in answer ? toResponse(answer) : answer
  return new oauth.ResponseBodyError(`The token endpoint answered with an error (status ${response.status}).`, {
    // The library demands the standard members of an error. Providers answer others, too.
    cause: body as never,
    response,
  })
}

/** Tokens that are not handed out yet. */
type NewTokens = { -readonly [K in keyof TokenSet]: TokenSet[K] }

/** With `expires_at` (row 196). What does not fit a safe integer fits no column either. */
export function withExpiry(answer: oauth.TokenEndpointResponse, ctx: AnyContext): NewTokens {
  // Ours to say, whatever the answer holds (row 165).
  const { expires_at: given, userId: _userId, ...tokens } = answer as unknown as NewTokens & { userId?: unknown }
  if (tokens.expires_in) {
    const at = Math.floor(ctx.runtime.now() / 1000) + Math.floor(tokens.expires_in)
    if (!Number.isSafeInteger(at)) throw new Refusal('The token endpoint returned an `expires_in` beyond all dates.')
    tokens.expires_at = at
  } else if (Number.isSafeInteger(given)) tokens.expires_at = given as number
  return tokens
}

// The host knows which issuers a token may name (Entra: one per tenant); the signature is checked as always.
function serverOfToken({ provider, server }: Attempt, idToken: unknown): oauth.AuthorizationServer {
  if (!provider.issuerOf || typeof idToken !== 'string') return server
  return { ...server, issuer: provider.issuerOf(decodeClaims(idToken), { id: provider.id, issuer: provider.issuer }) }
}

/** The same object, which was made of the answer a moment ago. */
function withoutNulls(body: JsonObject): JsonObject {
  for (const name of Object.keys(body)) if (body[name] === null) delete body[name]
  return body
}

function withoutIdToken({ id_token: _idToken, ...rest }: JsonObject): JsonObject {
  return rest
}

// As oauth4webapi reads a Response: its status, whether it was read, and its JSON.
const responseShape = {
  status: 200,
  bodyUsed: false,
  headers: new Headers({ 'content-type': 'application/json' }),
  [Symbol.toStringTag]: 'Response',
}

/** JSON that was read and checked, for functions of oauth4webapi that take a Response: a real one would write it as text and read it once more. */
export function asResponse(body: JsonObject): Response {
  return Object.assign(Object.create(responseShape) as Response, { json: async () => ({ ...body }) })
}
