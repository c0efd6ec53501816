/** Logouts that a provider sends: by a signed token, or by a frame in the browser. */
import {
  type AnyContext,
  type AuthError,
  type Context,
  endSessions,
  HttpError,
  json,
  RecordConflict,
  type AccessSelector,
  sha256,
  toHex,
} from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import { LogoutRefused } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { type LogoutToken, verifyLogoutToken } from './logout-token.ts'

const noStore = { 'Cache-Control': 'no-store' }
// Seconds.
const leeway = 60
const tokenIdLifetime = 600
const longest = 86_400

/** `POST /backchannel-logout/:provider`. */
export async function answerBackChannel(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { provider = '' } = ctx.params
  const { backChannel: takes, legacyLogoutTokens = false } = options.of(provider)
  if (!takes) throw new LogoutRefused(`Provider "${provider}" may not send logout tokens (\`backChannel\`).`)
  const jwt = await tokenOf(ctx)
  const sent = await verifyLogoutToken(ctx, provider, jwt, legacyLogoutTokens)
  const token = await withStoredNames(ctx, provider, sent)
  const mark = await rememberToken(ctx, provider, token, toHex(await sha256(jwt)))
  // What began after it first came is none of its business.
  const which = selectorOf(provider, token, Math.min((token.iat + leeway) * 1000, mark.at.getTime()))
  if (!mark.first) {
    // It came before, and may have been interrupted: what it should have ended then, and nothing that began since. No event fires twice.
    await ctx.access.end(which, { by: 'single-logout', silent: true })
    return emptyAnswer()
  }
  try {
    await endSessions(ctx, which, 'single-logout')
  } catch (error) {
    // The provider sends it again, and it counts as the first time.
    await ctx
      .records('logoutToken')
      .delete(mark.id)
      .catch(() => false)
    throw error
  }
  await ctx.emit('providerLogout', { provider, sub: sent.sub, sid: sent.sid, channel: 'back' })
  return emptyAnswer()
}

/** `GET /frontchannel-logout/:provider` (OpenID Connect Front-Channel Logout 1.0). */
export async function answerFrontChannel(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { provider = '' } = ctx.params
  if (options.of(provider).frontChannel !== true) throw new LogoutRefused(`Provider "${provider}" may not end sessions (\`frontChannel\`).`)
  const { searchParams: query } = ctx.url
  const [sid = ''] = query.getAll('sid')
  const { issuer } = await ctx.service('oauth').metadata(ctx, provider, { iss: query.get('iss') })
  // A page of an attacker can load this address: without the name of the session it ends none.
  if (issuer === '' || query.getAll('iss').join() !== issuer || query.getAll('sid').length !== 1 || sid === '' || sid.length > 255)
    throw new LogoutRefused('A front-channel logout needs `iss` and `sid` of the provider.')
  const ofIssuer = await canonicalName(ctx, provider, issuer, sid)
  const count = await endSessions(ctx, { provider, sid: ofIssuer, until: ctx.runtime.now() }, 'single-logout')
  if (count !== 0) await ctx.emit('providerLogout', { provider, sub: undefined, sid, channel: 'front' })
  const headers = { ...noStore, 'Content-Type': 'text/html; charset=utf-8' }
  return new Response('<!doctype html><title>Signed out</title>', {
    headers: { ...headers, 'Content-Security-Policy': `default-src 'none'; frame-ancestors ${new URL(issuer).origin}` },
  })
}

/** What the provider did wrong is 400; for everything else it should try again. */
export function logoutErrorResponse(error: AuthError): Response {
  return error instanceof LogoutRefused || error instanceof InvalidProvider
    ? json({ error: 'invalid_request' }, 400, noStore)
    : new Response(null, { status: 503, headers: { 'Retry-After': '60', ...noStore } })
}

function emptyAnswer(): Response {
  return new Response(null, { status: 200, headers: noStore })
}

async function tokenOf(ctx: Context): Promise<string> {
  const type = ctx.request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') throw new LogoutRefused('A logout token comes in a form.')
  try {
    const [token, ...more] = (await ctx.form()).getAll('logout_token')
    if (token !== undefined && more.length === 0) return token
  } catch (error) {
    throw error instanceof HttpError ? new LogoutRefused(error.message) : error
  }
  throw new LogoutRefused('A logout request has exactly one `logout_token`.')
}

/** Remembers the token before it ends anything: whenever it comes again, it ends nothing that began later. */
async function rememberToken(
  ctx: AnyContext,
  provider: string,
  { jti, exp, issuer }: LogoutToken,
  token: string,
): Promise<{ id: string; first: boolean; at: Date }> {
  // The `jti` of one issuer is none of another.
  const id = toHex(await sha256(JSON.stringify([provider, await canonicalName(ctx, provider, issuer, jti)])))
  const now = ctx.runtime.now()
  const expires = new Date(Math.min((exp + tokenIdLifetime) * 1000, now + longest * 1000))
  const at = new Date(now)
  const tokens = ctx.records('logoutToken')
  try {
    await tokens.create({ id, token, at, expires })
    return { id, first: true, at }
  } catch (error) {
    if (!(error instanceof RecordConflict)) {
      // It may have been written all the same: when it comes again, it counts as the first time.
      await tokens.take(id, { if: { token, at } }).catch(() => null)
      throw error
    }
  }
  const known = await tokens.get(id)
  if (known && known.token !== token) throw new LogoutRefused(`Provider "${provider}" used a \`jti\` for a second logout token.`)
  return { id, first: false, at: known?.at ?? at }
}

/** The token with the names as sessions keep them. */
async function withStoredNames(ctx: AnyContext, provider: string, token: LogoutToken): Promise<LogoutToken> {
  const [sub, sid] = await Promise.all(
    [token.sub, token.sid].map((name) => (name === undefined ? undefined : canonicalName(ctx, provider, token.issuer, name))),
  )
  return { ...token, sub, sid }
}

async function canonicalName(ctx: AnyContext, provider: string, issuer: string, name: string): Promise<string> {
  return (await ctx.service('oauth').named?.(ctx, provider, issuer, name)) ?? name
}

function selectorOf(provider: string, { sid, sub }: LogoutToken, until: number): Extract<AccessSelector, { provider: string }> {
  if (sid === undefined) return { provider, sub: sub ?? '', until, brief: true }
  return { provider, sid, ...(sub !== undefined && { sub }), until, brief: true }
}
