/**
 * A token that is good for a while, refreshed when needed. One holder of a lease sends the refresh token, and the mark that it does is committed
 * before a byte goes out. A token of unknown outcome is not sent again, unless the provider does not rotate.
 */
import { type AnyContext, AuthError, endSessions, OAuthRequestError, toBase64Url, type TokenSet } from 'authkernel/kernel'
import { decodeJwt } from 'jose'
import { TokensBusy, TokensExpired } from './errors.ts'
import { keepsToken, type ResolvedOptions } from './options.ts'
import { changeRow, isLasting, isReadable, newestRow, type TokenRow, tokenRows } from './tables.ts'

const leaseSeconds = 60
// Milliseconds: shorter than the lease, so that a late answer can still be written under it.
const exchangeDeadline = 45_000
const [firstPause, longestPause] = [50, 500]
const defaultWait = 5
// Milliseconds, with what clocks of hosts may differ by.
const [longestLease, longestRest] = [2 * leaseSeconds * 1000, 2 * 3_600_000]
const members = new Set(['access_token', 'refresh_token', 'id_token', 'expires_at', 'scope', 'token_type', 'dpop_key'])

/** Whose tokens, and how they are treated. */
export interface TokenRequest {
  userId: string
  provider: string
  minValid: number
  options: ResolvedOptions
}

/** The set; null: the user has no account there. Throws TokensExpired and TokensBusy. */
export async function validTokens(ctx: AnyContext, wanted: TokenRequest): Promise<TokenSet | null> {
  const end = Date.now() + wanted.options.wait
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    const row = await newestRow(ctx, wanted.userId, wanted.provider)
    if (!row) return null
    if (!isReadable(row)) throw tokensExpired(wanted, 'what is stored cannot be opened, because its secret is gone')
    if (row.state === 'lost') throw tokensExpired(wanted, 'the provider ended them, or a refresh got lost')
    if (row.state === 'ready' && isValid(ctx, row.tokens, wanted.minValid)) return row.tokens
    const step = await advanceRow(ctx, wanted, row, end)
    if (step !== 'again') return step
    if (Date.now() + pause > end) throw new TokensBusy(`The tokens of provider "${wanted.provider}" are being refreshed elsewhere.`, 1)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

// What is further ahead was written before the clock went back.
function isAhead(until: Date | null, now: number, longest: number): boolean {
  const left = (until?.getTime() ?? 0) - now
  return left > 0 && left <= longest
}

/** One step with a row that cannot be answered as it is. */
async function advanceRow(ctx: AnyContext, wanted: TokenRequest, row: TokenRow, end: number): Promise<TokenSet | 'again'> {
  const now = ctx.runtime.now()
  if (row.state === 'refreshing' && isAhead(row.leaseUntil, now, longestLease)) {
    const mine = ctx.app.shared.cache<Promise<TokenSet>>('provider-tokens').get(flightKey(ctx, row))
    return mine ? waitForTokens(mine, wanted, end) : 'again'
  }
  if (row.state !== 'ready' && !mayRetry(wanted, row)) {
    // Sent, and no word of what came of it: a rotating token that is sent twice ends the whole family at the provider.
    if (await changeRow(ctx, row, { state: 'lost', lease: '', leaseUntil: null })) await emitLost(ctx, wanted, 'unknown outcome')
    return 'again'
  }
  if (row.notBefore && isAhead(row.notBefore, now, longestRest))
    throw new TokensBusy(`Provider "${wanted.provider}" did not answer a moment ago.`, Math.ceil((row.notBefore.getTime() - now) / 1000))
  if (typeof row.tokens.refresh_token !== 'string') throw tokensExpired(wanted, 'the provider gave no refresh token')
  const lease = toBase64Url(ctx.runtime.random(16))
  const leased = await changeRow(ctx, row, {
    state: 'refreshing',
    lease,
    leaseUntil: new Date(now + leaseSeconds * 1000),
    tries: row.tries + (row.state === 'ready' ? 0 : 1),
  })
  if (!leased) return 'again'
  const running = ctx.app.shared.cache<Promise<TokenSet>>('provider-tokens')
  const key = flightKey(ctx, leased)
  const work = exchangeToken(ctx, wanted, leased).finally(() => running.delete(key))
  work.catch(() => {})
  running.set(key, work)
  return waitForTokens(work, wanted, end)
}

/** Sends the refresh token and writes what came of it. Goes on when no caller waits any more. */
async function exchangeToken(ctx: AnyContext, wanted: TokenRequest, row: TokenRow): Promise<TokenSet> {
  let fresh: TokenSet
  try {
    const [subject, { dpop_key: dpopKey }] = [idTokenSubject(row.tokens), row.tokens]
    fresh = await ctx.service('oauth').refresh(ctx, row.provider, row.tokens.refresh_token as string, {
      deadline: exchangeDeadline,
      ...(subject !== undefined && { subject }),
      ...(dpopKey !== undefined && { dpopKey }),
    })
  } catch (error) {
    return recordFailure(ctx, wanted, row, error)
  }
  const same = fresh.refresh_token === undefined || fresh.refresh_token === row.tokens.refresh_token
  const tokens = joinTokens(ctx, row.tokens, fresh)
  const next = {
    tokens,
    lasting: isLasting(tokens),
    generation: row.generation + 1,
    state: 'ready',
    lease: '',
    leaseUntil: null,
    notBefore: null,
    tries: 0,
    kept: same ? row.kept + 1 : 0,
  }
  if (await commitRow(ctx, row, next)) {
    await ctx.emit('tokensRefreshed', { userId: row.userId, provider: row.provider, expiresAt: tokens.expires_at })
    return tokens
  }
  // A new sign-in was faster. What came now is used by no request.
  const late = fresh.refresh_token ?? fresh.access_token
  if (late !== undefined && !same)
    await ctx
      .service('oauth')
      .revoke(ctx, row.provider, late)
      .catch(() => false)
  return validTokens(ctx, wanted).then((set) => set ?? Promise.reject(tokensExpired(wanted, 'the account was removed')))
}

/** Tries until the lease is over: a set that is not stored may not be handed out. Null: the row has moved on. */
async function commitRow(ctx: AnyContext, row: TokenRow, next: Parameters<typeof changeRow>[2]): Promise<TokenRow | null> {
  const until = row.leaseUntil?.getTime() ?? 0
  const patience = performance.now() + (leaseSeconds * 1000) / 2
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause * 4)) {
    try {
      const written = await changeRow(ctx, row, next)
      if (written) return written
      // The first answer may have been lost: then the row is ours already.
      const found = await tokenRows(ctx).get(row.id)
      return found && isWritten(found, row, next) ? found : null
    } catch (error) {
      if (ctx.runtime.now() + pause >= until || performance.now() + pause >= patience) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

function isWritten(found: TokenRow, row: TokenRow, next: Parameters<typeof changeRow>[2]): boolean {
  if (next.tokens) return found.generation === next.generation && found.tokens?.access_token === next.tokens.access_token
  return found.generation === row.generation && found.state === next.state && found.lease === '' && found.tries === row.tries
}

async function recordFailure(ctx: AnyContext, wanted: TokenRequest, row: TokenRow, error: unknown): Promise<TokenSet> {
  const { outcome, retryAfter = defaultWait } =
    error instanceof OAuthRequestError ? error : { outcome: 'unknown' as const, retryAfter: undefined }
  if (outcome === 'unused') {
    const notBefore = new Date(ctx.runtime.now() + retryAfter * 1000)
    await commitRow(ctx, row, { state: 'ready', lease: '', leaseUntil: null, notBefore })
    throw new TokensBusy(`Provider "${row.provider}" does not refresh tokens now.`, retryAfter, error)
  }
  if (!(error instanceof AuthError)) ctx.logger.error(error as Error)
  const state = outcome === 'refused' ? 'lost' : 'unknown'
  const marked = await commitRow(ctx, row, { state, lease: '', leaseUntil: null })
  if (marked && state === 'unknown')
    await ctx.emit('noted', {
      name: 'tokens.unknownOutcome',
      outcome: 'failure',
      reason: 'unanswered',
      user: { id: row.userId },
      provider: row.provider,
    })
  if (marked && state === 'lost') await emitLost(ctx, wanted, 'invalid_grant')
  // The faster request, or the next try: from the row.
  const set = await validTokens(ctx, wanted)
  if (!set) throw tokensExpired(wanted, 'the account was removed')
  return set
}

async function emitLost(ctx: AnyContext, { userId, provider, options }: TokenRequest, reason: string): Promise<void> {
  await ctx.emit('tokensExpired', { userId, provider, reason })
  if (options.endSessions && ctx.session.abilities?.has('revoke:user')) await endSessions(ctx, { userId }, 'provider-tokens')
}

function mayRetry({ provider, options }: TokenRequest, row: TokenRow): boolean {
  return row.tries < 1 && keepsToken(options.of(provider), row)
}

// Beside the fresh members the former ones stay: no `scope` means unchanged (RFC 6749 section 6).
export function joinTokens(ctx: AnyContext, former: TokenSet, fresh: TokenSet): TokenSet {
  const { expires_at: _former, expires_in: _seconds, ...rest } = former
  const next = Object.fromEntries(Object.entries(fresh).filter(([name, value]) => value !== undefined && members.has(name))) as TokenSet
  const over = fresh.expires_at === undefined && fresh.expires_in !== undefined
  return { ...rest, ...next, ...(over && { expires_at: Math.floor(ctx.runtime.now() / 1000) }) }
}

export function isValid(ctx: AnyContext, { expires_at: at }: TokenSet, minValid: number): boolean {
  return at === undefined || at - minValid > ctx.runtime.now() / 1000
}

/** `sub` of an ID token that was verified at the sign-in; undefined: there is none. */
export function idTokenSubject({ id_token: token }: Pick<TokenSet, 'id_token'>): string | undefined {
  try {
    return token === undefined ? undefined : decodeJwt(token).sub
  } catch {
    return undefined
  }
}

function flightKey(ctx: AnyContext, { id, lease }: TokenRow): string {
  return JSON.stringify([ctx.settings.namespace, id, lease])
}

/** The set, or TokensBusy when it does not come by `end`. */
export async function waitForTokens(work: Promise<TokenSet>, { provider }: Pick<TokenRequest, 'provider'>, end: number): Promise<TokenSet> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TokensBusy(`Provider "${provider}" takes long to refresh.`, 1)), Math.max(1, end - Date.now()))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function tokensExpired({ provider }: Pick<TokenRequest, 'provider'>, reason: string): TokensExpired {
  return new TokensExpired(`There is no token of provider "${provider}": ${reason}. Send the user to the sign-in at this provider.`, {
    cause: { provider, reason },
  })
}
