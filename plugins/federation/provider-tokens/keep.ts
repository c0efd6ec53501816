/** A sign-in brings a new set of tokens. */
import { type Account, type AnyContext, type Context, indexed, type Login, type SessionSelector, type TokenSet } from 'authkernel/kernel'
import { keepsToken, type Resolved } from './options.ts'
import { isLasting, isReadable, newest, type ProviderTokenRow, rows, type Stored } from './table.ts'

const kept = ['access_token', 'refresh_token', 'id_token', 'expires_at', 'scope', 'token_type', 'dpop_key'] as const
const maxTries = 5

/** Stores the tokens of a login, whatever state the former ones are in. */
export async function keepTokens(
  ctx: Context,
  { user, account, trimmed }: Login,
  sid: string | undefined,
  options: Resolved,
): Promise<void> {
  if (account.type !== 'oauth' && account.type !== 'oidc') return
  if (user.id === undefined || typeof account.access_token !== 'string') {
    if (trimmed?.includes('tokens')) ctx.logger.warn('provider-tokens-lost-while-parked')
    return
  }
  const { provider, providerAccountId } = account
  const key = { userId: user.id, provider, account: providerAccountId }
  for (let tries = 0; tries < maxTries; tries++) {
    const former = await rows(ctx).get(key)
    const tokens = merged(former, account, options)
    const next: ProviderTokenRow = {
      ...key,
      sid: sid === undefined ? null : await indexed(sid),
      at: ctx.now,
      generation: (former?.generation ?? 0) + 1,
      state: 'ready',
      lease: '',
      leaseUntil: null,
      kept: 0,
      tries: 0,
      notBefore: null,
      lasting: isLasting(tokens),
      tokens,
      expires: ctx.store ? null : new Date(ctx.runtime.now() + ctx.app.config.session.maxAge * 1000),
    }
    if (former ? await rows(ctx).update(former.id, next, { if: { generation: former.generation } }) : await created(ctx, next)) return
  }
}

/**
 * The provider ended sessions: their tokens go with them, unless they were granted for the time afterwards (`offline_access`, OpenID Connect Back-Channel
 * Logout 1.0 section 2.7).
 */
export async function dropTokens(ctx: AnyContext, which: SessionSelector): Promise<void> {
  if (!('provider' in which)) return
  const { provider, until } = which
  const where = 'sid' in which ? { provider, sid: await indexed(which.sid) } : { provider, account: which.sub }
  // Those of a later sign-in are none of its business.
  const range = until === undefined ? {} : { range: { at: { lte: new Date(until) } } }
  await rows(ctx).deleteWhere({ where: { ...where, lasting: false }, ...range })
}

/** Scopes that the account has already. */
export async function grantedScopes(ctx: Context, provider: string): Promise<string[]> {
  const user = await ctx.session.user(ctx)
  const row = user?.id === undefined ? null : await newest(ctx, user.id, provider)
  return row && row.state !== 'lost' && isReadable(row) ? (row.tokens.scope ?? '').split(' ').filter(Boolean) : []
}

// Many providers give a refresh token at the first consent only: the former one stays good, unless it may be on its way to be used up.
function merged(former: Stored | null, account: Account, options: Resolved): TokenSet {
  const fresh = Object.fromEntries(kept.filter((name) => account[name] !== undefined).map((name) => [name, account[name]])) as TokenSet
  if (fresh.refresh_token !== undefined || !former || former.state === 'lost' || !isReadable(former)) return fresh
  if (former.state !== 'ready' && !keepsToken(options.of(former.provider), former)) return fresh
  const { refresh_token } = former.tokens
  return refresh_token === undefined ? fresh : { ...fresh, refresh_token }
}

async function created(ctx: Context, row: ProviderTokenRow): Promise<boolean> {
  try {
    await rows(ctx).create(row)
    return true
  } catch (error) {
    if ((error as { type?: unknown }).type === 'RecordConflict') return false
    throw error
  }
}
