/**
 * Tokens for hosts without records: in a sealed cookie of their own. One refresh at a time in this process; providers must accept a refresh token more
 * than once, because tabs and processes may come with a former cookie.
 */
import {
  AuthError,
  type CompileView,
  type Context,
  type CookieHandle,
  createCookie,
  type Login,
  OAuthRequestError,
  sha256,
  toBase64Url,
  type TokenSet,
} from 'authkernel/kernel'
import { TokensBusy, TokensExpired, TokensNotWritable } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { idTokenSubject, isValid, joinTokens, waitForTokens } from './refresh.ts'

/** What is kept of one account. Without tokens: the provider has ended them. */
interface AccountTokens {
  account: string
  /** Of the ID token. */
  sub?: string
  tokens?: TokenSet
}
/** What is in the cookie. */
interface CookieTokens {
  userId: string
  kept: Record<string, AccountTokens>
}

export const tokenCookie: CookieHandle = /* @__PURE__ */ createCookie('provider-tokens', { path: '/', chunked: true })

const fields = ['access_token', 'refresh_token', 'expires_at', 'scope', 'token_type', 'dpop_key'] as const
const exchangeDeadline = 45_000
const defaultWait = 5
// What was written in this request: the cookie that it came with is the former one.
const writtenTokens = new WeakMap<Request, CookieTokens>()

/** Rejected at compile: providers that rotate, or may. */
export function checkSealed({ of }: ResolvedOptions, { providers }: CompileView): void {
  for (const { id, type } of providers.values())
    if ((type === 'oauth' || type === 'oidc') && of(id).rotation !== false)
      throw new AuthError(
        `providerTokensPlugin: without the service "records" tokens live in a cookie, and then a refresh token is sent more than once. ` +
          `If provider "${id}" permits that, set \`providers.${id}.rotation: false\`. Otherwise use an adapter of authkernel, or \`recordsPlugin\`.`,
      )
}

/** Seals the tokens of a login beside those of other providers. */
export async function sealTokens(ctx: Context, { user, account }: Login): Promise<void> {
  if ((account.type !== 'oauth' && account.type !== 'oidc') || user.id === undefined || typeof account.access_token !== 'string') return
  const { provider, providerAccountId } = account
  const former = await openSealed(ctx, user.id)
  const { tokens: before } = former.kept[provider] ?? {}
  const tokens = Object.fromEntries(fields.filter((name) => account[name] !== undefined).map((name) => [name, account[name]])) as TokenSet
  // Many providers give a refresh token at the first consent only.
  const refresh = tokens.refresh_token ?? (former.kept[provider]?.account === providerAccountId ? before?.refresh_token : undefined)
  const sub = idTokenSubject(account)
  const kept: AccountTokens = {
    account: providerAccountId,
    ...(sub !== undefined && { sub }),
    tokens: { ...tokens, ...(refresh !== undefined && { refresh_token: refresh }) },
  }
  await writeSealed(ctx, { ...former, kept: { ...former.kept, [provider]: kept } })
}

/** Scopes that the account has already. */
export async function sealedScopes(ctx: Context, provider: string): Promise<string[]> {
  const sealed = await readOwn(ctx)
  return (sealed?.kept[provider]?.tokens?.scope ?? '').split(' ').filter(Boolean)
}

/** The set; null: signed out, or the user has no account there. `writable`: the answer can carry the cookie. */
export async function sealedToken(
  ctx: Context,
  provider: string,
  { minValid, writable, options }: { minValid: number; writable: boolean; options: ResolvedOptions },
): Promise<TokenSet | null> {
  const end = Date.now() + options.wait
  const sealed = await readOwn(ctx)
  const kept = sealed?.kept[provider]
  if (!sealed || !kept) return null
  if (!kept.tokens) throw tokensExpired(provider, 'the provider ended them')
  if (isValid(ctx, kept.tokens, minValid)) return kept.tokens
  const { refresh_token: token } = kept.tokens
  if (token === undefined) throw tokensExpired(provider, 'the provider gave no refresh token')
  if (!writable) throw notWritable(`The tokens of provider "${provider}" must be refreshed`)
  const key = `provider-tokens ${toBase64Url(await sha256(JSON.stringify([ctx.settings.namespace, sealed.userId, provider, token])))}`
  const work = ctx.app.shared.flight(key, () => refreshTokens(ctx, provider, kept, token))
  work.catch(() => {})
  try {
    const tokens = await waitForTokens(work, { provider }, end)
    await writeSealed(ctx, { ...sealed, kept: { ...sealed.kept, [provider]: { ...kept, tokens } } })
    return tokens
  } catch (error) {
    if (error instanceof TokensExpired) await loseTokens(ctx, sealed, provider, { options, reason: String(error.cause?.['outcome']) })
    throw error
  }
}

/** Ends the tokens at the provider and forgets them. */
export async function revokeSealed(ctx: Context, provider: string, writable: boolean): Promise<boolean> {
  const sealed = await readOwn(ctx)
  const tokens = sealed?.kept[provider]?.tokens
  if (!sealed || !tokens) return false
  if (!writable) throw notWritable(`The tokens of provider "${provider}" must be forgotten`)
  const { [provider]: _gone, ...kept } = sealed.kept
  await writeSealed(ctx, { ...sealed, kept })
  const { refresh_token: refresh, access_token: access } = tokens
  if (refresh !== undefined) await ctx.service('oauth').revoke(ctx, provider, refresh, 'refresh_token')
  if (access !== undefined) await ctx.service('oauth').revoke(ctx, provider, access, 'access_token')
  return true
}

/** Once more when the outcome is unknown: the provider keeps the token. */
async function refreshTokens(ctx: Context, provider: string, { sub, tokens = {} }: AccountTokens, token: string): Promise<TokenSet> {
  const { dpop_key: dpopKey } = tokens
  const ask = (): Promise<TokenSet> =>
    ctx.service('oauth').refresh(ctx, provider, token, {
      deadline: exchangeDeadline,
      ...(sub !== undefined && { subject: sub }),
      ...(dpopKey !== undefined && { dpopKey }),
    })
  let fresh: TokenSet
  try {
    fresh = await ask().catch((error: unknown) => {
      if (tokenOutcome(error) === 'unknown') return ask()
      throw error
    })
  } catch (error) {
    const { retryAfter = defaultWait } = error as { retryAfter?: number }
    if (tokenOutcome(error) === 'unused') throw new TokensBusy(`Provider "${provider}" does not refresh tokens now.`, retryAfter, error)
    if (!(error instanceof AuthError)) ctx.logger.error(error as Error)
    throw tokenOutcome(error) === 'refused'
      ? tokensExpired(provider, 'the provider ended them', 'invalid_grant')
      : tokensExpired(provider, 'a refresh got lost', 'unknown outcome')
  }
  const { id_token: _id, ...kept } = joinTokens(ctx, tokens, fresh)
  const userId = (await readOwn(ctx))?.userId ?? ''
  await ctx.emit('tokensRefreshed', { userId, provider, expiresAt: kept.expires_at })
  return kept
}

async function loseTokens(
  ctx: Context,
  sealed: CookieTokens,
  provider: string,
  { options, reason }: { options: ResolvedOptions; reason: string },
): Promise<void> {
  const { tokens: _gone, ...rest } = sealed.kept[provider] as AccountTokens
  await writeSealed(ctx, { ...sealed, kept: { ...sealed.kept, [provider]: rest } })
  await ctx.emit('tokensExpired', { userId: sealed.userId, provider, reason })
  if (options.endSessions) await ctx.session.end(ctx)
}

/** Of the user who is signed in: a cookie of another user says nothing. */
async function readOwn(ctx: Context): Promise<CookieTokens | null> {
  const user = await ctx.session.user(ctx)
  return user?.id === undefined ? null : openSealed(ctx, user.id)
}

async function openSealed(ctx: Context, userId: string): Promise<CookieTokens> {
  const sealed = writtenTokens.get(ctx.request) ?? (await tokenCookie.open<CookieTokens>(ctx))
  return sealed?.userId === userId ? sealed : { userId, kept: {} }
}

async function writeSealed(ctx: Context, { userId, kept }: CookieTokens): Promise<void> {
  writtenTokens.set(ctx.request, { userId, kept })
  const { maxAge } = ctx.app.config.session
  const expires = new Date(ctx.runtime.now() + maxAge * 1000)
  tokenCookie.set(ctx, await tokenCookie.seal(ctx, { userId, kept }, maxAge), { expires })
}

function tokenOutcome(error: unknown): OAuthRequestError['outcome'] {
  return error instanceof OAuthRequestError ? error.outcome : 'unknown'
}

function tokensExpired(provider: string, reason: string, outcome?: string): TokensExpired {
  return new TokensExpired(`There is no token of provider "${provider}": ${reason}. Send the user to the sign-in at this provider.`, {
    cause: { provider, reason, ...(outcome !== undefined && { outcome }) },
  })
}

function notWritable(what: string): TokensNotWritable {
  return new TokensNotWritable(`${what}, and they live in a cookie: give the headers of your response, \`{ headers: response.headers }\`.`)
}
