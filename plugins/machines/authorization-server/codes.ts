/** Codes: one is given at the end of the authorization endpoint, and used up once at the token endpoint. */
import { type Context, equal, sha256, toBase64Url, toHex, type User } from 'authkernel/kernel'
import { redirectBack } from '../bearer/redirect.ts'
import { type Client, mayEnter } from './clients.ts'
import { noteConsentUse } from './consent-store.ts'
import { OAuthRefusal } from './errors.ts'
import type { AuthorizationRequest } from './request.ts'
import type { OAuthCodeRow } from './tables.ts'

/** Seconds that a code is valid, and that its row stays so that a second use is noticed. */
const codeSeconds = 60
const keptSeconds = 600
const purpose = 'authorization-server.code'
/** What a client learns of a user who is no member. */
export const membersOnly = 'Only members of the organization of this app may sign in.'

/** Leads the browser back with a code. The user has allowed it, now or before. */
export async function giveCode(
  ctx: Context,
  request: AuthorizationRequest,
  client: Client,
  user: User & { id: string },
): Promise<Response> {
  const access = await ctx.access.stampSession()
  if (access?.subject !== `user:${user.id}`) return ctx.page('signIn', { callbackUrl: ctx.url.href })
  const { redirectUri, state, challenge, jkt, nonce, scopes, audiences, details, claims, pushed } = request
  // The page may have been open for a while.
  if (!(await mayEnter(ctx, client, user.id)))
    return redirectBack({ redirectUri, state, issuer: ctx.base }, { error: 'access_denied', error_description: membersOnly })
  // One code for one pushed request (RFC 9126 section 4).
  if (pushed !== undefined && !(await ctx.records('oauthRequest').take(pushed)))
    return redirectBack({ redirectUri, state, issuer: ctx.base }, { error: 'invalid_request_uri' })
  const code = toBase64Url(ctx.runtime.random(32))
  const now = ctx.now.getTime()
  const row = {
    id: await ctx.digest(purpose, code),
    userId: user.id,
    clientId: client.id,
    redirectUri,
    challenge,
    jkt,
    nonce,
    scopes,
    audiences,
    details,
    claims,
    session: await nameOfSession(ctx),
    attributes: (await ctx.session.attributes?.(ctx)) ?? null,
    access,
    until: new Date(now + codeSeconds * 1000),
    grant: '',
    expires: new Date(now + keptSeconds * 1000),
  }
  const codes = ctx.records('oauthCode')
  await ctx.access.grant(
    access,
    'appCode',
    () => codes.create(row),
    () => codes.delete(row.id),
  )
  await noteConsentUse(ctx, user.id, client.id)
  return redirectBack({ redirectUri, state, issuer: ctx.base }, { code })
}

/** A code that fits, or `grant`: the grant of a code that came twice. */
export type FoundCode = { row: OAuthCodeRow & { id: string } } | { reused: string }

/** Throws OAuthRefusal `invalid_grant`. A code that comes with the wrong proof was stolen: it is deleted. */
export async function readCode(ctx: Context, client: Client, form: URLSearchParams, jkt: string | null): Promise<FoundCode> {
  const [code, verifier] = [form.get('code'), form.get('code_verifier')]
  if (!code || !verifier) throw new OAuthRefusal('invalid_request', '`code` and `code_verifier` are needed.')
  const codes = ctx.records('oauthCode')
  let row: Awaited<ReturnType<typeof codes.get>> = null
  for (const id of code.length === 43 ? await ctx.digests(purpose, code) : []) row ??= await codes.get(id)
  if (!row) throw wrongCode()
  if (row.grant !== '') return { reused: row.grant }
  const challenge = toBase64Url(await sha256(verifier))
  // RFC 7636 section 4.1: a short verifier could be found by trying.
  const fits =
    /^[\w.~-]{43,128}$/.test(verifier) &&
    row.clientId === client.id &&
    row.redirectUri === form.get('redirect_uri') &&
    equal(challenge, row.challenge) &&
    (row.jkt === null || row.jkt === jkt)
  if (fits && row.until > ctx.now) return { row }
  await codes.delete(row.id)
  throw wrongCode()
}

/** SHA-256 of the id of the browser session; empty: the strategy names none. */
export async function nameOfSession(ctx: Context): Promise<string> {
  const id = await ctx.session.id?.(ctx)
  return id === undefined || id === null ? '' : hashOfSession(id)
}

/** What rows keep of the id of a session. */
export async function hashOfSession(id: string): Promise<string> {
  return toHex(await sha256(`authorization-server ${id}`))
}

function wrongCode(): OAuthRefusal {
  return new OAuthRefusal('invalid_grant', 'The code is unknown, used or too old, or does not fit the request.')
}
