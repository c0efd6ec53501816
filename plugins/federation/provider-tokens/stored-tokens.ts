/** Tokens in records: a sign-in brings a new set, and the end of a session at the provider takes it away. */
import {
  type Account,
  type AnyContext,
  type Context,
  type Login,
  RecordConflict,
  type SessionAttributes,
  type SessionSelector,
  type TokenSet,
} from 'authkernel/kernel'
import { listRows, type RowQuery } from 'authkernel/kernel/stores'
import { indexedName } from 'authkernel/kernel/strategies'
import { keepsToken, type ResolvedOptions } from './options.ts'
import { isLasting, isReadable, newestRow, type ProviderTokenRow, type TokenRow, tokenRows } from './tables.ts'

const storedFields = ['access_token', 'refresh_token', 'id_token', 'expires_at', 'scope', 'token_type', 'dpop_key'] as const
const maxTries = 5

/** Stores the tokens of a login, whatever state the former ones are in. */
export async function keepTokens(
  ctx: Context,
  { user, account, trimmed, proof }: Login,
  attributes: SessionAttributes | undefined,
  options: ResolvedOptions,
): Promise<void> {
  if (account.type !== 'oauth' && account.type !== 'oidc') return
  if (user.id === undefined || typeof account.access_token !== 'string') {
    if (trimmed?.includes('tokens')) ctx.logger.warn('provider-tokens-lost-while-parked')
    return
  }
  const { provider, providerAccountId } = account
  const key = { userId: user.id, provider, account: providerAccountId }
  // A session that goes on beside a linked account is of another provider, which has other names.
  const { sid, sub = providerAccountId } = attributes?.provider === provider ? attributes : (proof ?? {})
  for (let tries = 0; tries < maxTries; tries++) {
    const former = await tokenRows(ctx).get(key)
    const tokens = mergeTokens(former, account, options)
    const next: ProviderTokenRow = {
      ...key,
      sid: sid === undefined ? null : await indexedName(sid),
      sub: await indexedName(sub),
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
    if (former ? await tokenRows(ctx).update(former.id, next, { if: { generation: former.generation } }) : await createTokenRow(ctx, next))
      return
  }
}

/**
 * The provider ended sessions: their tokens go with them, unless they were granted for the time afterwards (`offline_access`, OpenID Connect Back-Channel
 * Logout 1.0 section 2.7). `lasting`: these too.
 */
export async function dropTokens(
  ctx: AnyContext,
  which: SessionSelector,
  { lasting: all = false }: { lasting?: boolean } = {},
): Promise<void> {
  for (const lasting of all ? [false, true] : [false]) await dropKind(ctx, which, lasting)
}

async function dropKind(ctx: AnyContext, which: SessionSelector, lasting: boolean): Promise<void> {
  if (!('provider' in which)) return
  const { provider, until } = which
  // Those of a later sign-in are none of its business.
  const range = until === undefined ? {} : { range: { at: { lte: new Date(until) } } }
  if (!('sid' in which)) {
    await tokenRows(ctx).deleteWhere({ where: { provider, sub: await indexedName(which.sub), lasting }, ...range })
    // Rows of former versions name the account alone.
    await dropEach(ctx, { where: { provider, account: which.sub, lasting }, ...range }, (row) => row.sub === null)
    return
  }
  const where = { provider, sid: await indexedName(which.sid), lasting }
  if (which.sub === undefined) {
    await tokenRows(ctx).deleteWhere({ where, ...range })
    return
  }
  const sub = await indexedName(which.sub)
  // A `sid` beside a `sub` names a session of that person alone.
  await dropEach(ctx, { where, ...range }, (row) => (row.sub === null ? row.account === which.sub : row.sub === sub))
}

/** Each by itself, unless a sign-in has brought a new set meanwhile. A refresh under way saves none. */
async function dropEach(ctx: AnyContext, query: RowQuery<ProviderTokenRow>, isMeant: (row: TokenRow) => boolean): Promise<void> {
  const found = await listRows(tokenRows(ctx), query)
  for (const { id, at } of found.filter(isMeant)) await tokenRows(ctx).take(id, { if: { at } })
}

/** Scopes that the account has already. */
export async function grantedScopes(ctx: Context, provider: string): Promise<string[]> {
  const user = await ctx.session.user(ctx)
  const row = user?.id === undefined ? null : await newestRow(ctx, user.id, provider)
  return row && row.state !== 'lost' && isReadable(row) ? (row.tokens.scope ?? '').split(' ').filter(Boolean) : []
}

// Many providers give a refresh token at the first consent only: the former one stays good, unless it may be on its way to be used up.
function mergeTokens(former: TokenRow | null, account: Account, options: ResolvedOptions): TokenSet {
  const fresh = Object.fromEntries(
    storedFields.filter((name) => account[name] !== undefined).map((name) => [name, account[name]]),
  ) as TokenSet
  if (fresh.refresh_token !== undefined || !former || former.state === 'lost' || !isReadable(former)) return fresh
  if (former.state !== 'ready' && !keepsToken(options.of(former.provider), former)) return fresh
  const { refresh_token } = former.tokens
  return refresh_token === undefined ? fresh : { ...fresh, refresh_token }
}

async function createTokenRow(ctx: Context, row: ProviderTokenRow): Promise<boolean> {
  try {
    await tokenRows(ctx).create(row)
    return true
  } catch (error) {
    if (error instanceof RecordConflict) return false
    throw error
  }
}
