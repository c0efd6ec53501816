/** Global Token Revocation, as Okta Universal Logout sends it. Experimental: draft-parecki-oauth-global-token-revocation is no standard. */
import { type AuthError, type Context, endSessions, HttpError, json, OAuthRequestError, sha256, toHex } from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import { isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import { RevocationRefused } from './errors.ts'
import type { Sender } from './options.ts'
import { findSubject, type Subject } from './subject.ts'
import { canonicalName, findUserId } from './users.ts'

// Seconds.
const longest = 300
const leeway = 60
const types = ['global-token-revocation+jwt', 'JWT', undefined]

/** `POST /global-token-revocation/:provider`: ends the sessions of one user that this provider began. */
export async function revokeGlobally(ctx: Context, senders: ReadonlyMap<string, Sender>): Promise<Response> {
  const { provider = '' } = ctx.params
  const sender = senders.get(provider)
  if (!sender?.revokesGlobally) throw new RevocationRefused(403, `Provider "${provider}" may not revoke.`)
  const { jti, iat, exp, iss: issuer } = await authenticateSender(ctx, provider)
  const subject = await readRevokedSubject(ctx)
  // Asked for each address, in whatever form the subject names it.
  let untrusted = false
  const speaksFor = async (email: string): Promise<boolean> => {
    const may = await isTrustedFor(ctx, provider, email)
    untrusted ||= !may
    return may
  }
  const { sub }: Subject = await findSubject(ctx, { provider, issuer, speaksFor }, subject, false)
  if (sub === undefined && untrusted)
    throw new RevocationRefused(403, `Provider "${provider}" is not trusted for this address (\`trustEmail\`).`)
  const person = sub === undefined ? undefined : { provider, issuer, sub }
  const userId = person && (await findUserId(ctx, person, sender.keeps))
  // Without accounts to look into, sessions are all that is known.
  if (!person || (userId === undefined && ctx.store?.supports('getUserByAccount')))
    throw new RevocationRefused(404, 'No user of that name has signed in here.')
  const count = await endSessions(
    ctx,
    { provider, sub: await canonicalName(ctx, person, person.sub), until: Math.min((iat + leeway) * 1000, ctx.runtime.now()) },
    'shared-signals',
    'accountDisabled',
  )
  // After the effect: one that failed may be repeated.
  const key = await revocationKey(provider, jti)
  if (!(await ctx.once.take(key, exp - iat + 2 * leeway))) return emptyAnswer()
  const details = { sub_id: subject }
  const signalMessage = {
    provider,
    kind: 'token-revocation',
    userId,
    subject: { sub: person.sub },
    at: iat * 1000,
    reason: undefined,
    count,
    details,
  } as const
  await ctx.emit('signalReceived', signalMessage)
  return emptyAnswer()
}

/** What was wrong is a status; for everything else the sender should try again. */
export function revocationFailure(error: AuthError): Response {
  const headers = { 'Cache-Control': 'no-store' }
  if (error instanceof InvalidProvider) return new Response(null, { status: 403, headers })
  if (!(error instanceof RevocationRefused)) return new Response(null, { status: 503, headers: { 'Retry-After': '60', ...headers } })
  const challenge = error.code === 401 ? { 'WWW-Authenticate': 'Bearer error="invalid_token"' } : {}
  return json({ error: error.code === 400 ? 'invalid_request' : 'access_denied' }, error.code, { ...headers, ...challenge })
}

function emptyAnswer(): Response {
  return new Response(null, { status: 204, headers: { 'Cache-Control': 'no-store' } })
}

async function authenticateSender(ctx: Context, provider: string): Promise<{ iss: string; jti: string; iat: number; exp: number }> {
  const [, jwt] = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(ctx.request.headers.get('authorization') ?? '') ?? []
  const refuse = (what: string, err?: Error): RevocationRefused => new RevocationRefused(401, `The token of the request ${what}.`, err)
  if (jwt === undefined) throw refuse('is missing')
  const audience = `${ctx.base}/global-token-revocation/${provider}`
  const { header, claims } = await ctx
    .service('oauth')
    .verify(ctx, provider, jwt, { typ: types, claims: ['iat', 'exp', 'jti'], audience })
    .catch((error: unknown) => {
      // Keys that cannot be had are no fault of the sender.
      const invalid = error instanceof OAuthRequestError && error.invalidToken
      throw invalid ? refuse('is not valid', error.cause?.err) : error
    })
  const { iss, iat, exp, jti } = claims as { iss: string; iat: number; exp: number; jti: unknown }
  const now = ctx.runtime.now() / 1000
  if (String(header['alg']).startsWith('HS')) throw refuse('is signed with a shared secret')
  if (exp - iat > longest || iat < now - longest - leeway || iat > now + leeway) throw refuse('is valid for too long, or too old')
  if (typeof jti !== 'string' || jti === '') throw refuse('has no `jti`')
  if (await ctx.once.taken(await revocationKey(provider, jti))) throw refuse('was used before')
  return { iss, jti, iat, exp }
}

async function readRevokedSubject(ctx: Context): Promise<JsonObject> {
  const type = ctx.request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new RevocationRefused(400, 'The content type must be application/json.')
  try {
    const body = await ctx.body()
    const subject = body['sub_id'] ?? body['subject']
    if (isJsonObject(subject) && typeof subject['format'] === 'string') return subject
  } catch (error) {
    throw error instanceof HttpError ? new RevocationRefused(400, error.message) : error
  }
  throw new RevocationRefused(400, 'The request names no user (`sub_id`).')
}

async function isTrustedFor(ctx: Context, id: string, email: string): Promise<boolean> {
  const { trustEmail } = (await ctx.providerById(id)) as { trustEmail?: boolean | readonly string[] }
  const domain = email
    .slice(email.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase()
  return trustEmail === true || (Array.isArray(trustEmail) && (trustEmail as string[]).some((one) => one.toLowerCase() === domain))
}

async function revocationKey(provider: string, jti: string): Promise<string> {
  return `revocation:${provider}:${toHex(await sha256(jti))}`
}
