/** Bearer tokens of directories: shown once, kept as a digest. */
import { type AnyContext, randomHex, type Row, sha256, toHex } from 'authkernel/kernel'
import type { ResolvedOptions } from './options.ts'
import type { TokenRow } from './tables.ts'

/** What a token may do: `write` contains `read`. */
export type TokenScope = 'read' | 'write'

/** A token as owners see it: nothing of it opens anything. */
export interface ScimToken {
  id: string
  /** `scim_…9f3a`: the last 4 characters. */
  shown: string
  scope: TokenScope
  created: Date
  expires: Date
  /** Accurate to an hour; null: never used. */
  lastUsed: Date | null
}
/** A token with its text, which is shown once. */
export type CreatedToken = ScimToken & { token: string }
const day = 86_400_000
const hour = 3_600_000

/** Throws TypeError for a directory that does not exist, or for a wrong scope. */
export async function createToken(
  ctx: AnyContext,
  options: ResolvedOptions,
  { directoryId, scope = 'write', days = options.tokenDays }: { directoryId: string; scope?: TokenScope; days?: number },
): Promise<CreatedToken> {
  if (!(await ctx.records('scimDirectory').get(directoryId))) throw new TypeError('scim: there is no such directory.')
  if (scope !== 'read' && scope !== 'write') throw new TypeError('scim: `scope` must be "read" or "write".')
  if (!Number.isInteger(days) || days < 1 || days > 3650) throw new TypeError('scim: `days` must be a whole number from 1 to 3650.')
  const token = `scim_${randomHex(ctx.runtime, 32)}`
  const row = await ctx.records('scimToken').create({
    directoryId,
    digest: await digestToken(token),
    tail: token.slice(-4),
    scope,
    created: ctx.now,
    expires: new Date(ctx.now.getTime() + days * day),
    used: null,
  })
  return { ...toToken(row), token }
}

/** A new token of the same scope. The former one ends after `overlapDays`. Null: there is no such token. */
export async function rotateToken(ctx: AnyContext, options: ResolvedOptions, id: string): Promise<CreatedToken | null> {
  const former = await ctx.records('scimToken').get(id)
  if (!former) return null
  const end = Math.min(former.expires.getTime(), ctx.now.getTime() + options.overlapDays * day)
  const next = await createToken(ctx, options, { directoryId: former.directoryId, scope: former.scope as TokenScope })
  if (end <= ctx.now.getTime()) await ctx.records('scimToken').delete(id)
  else await ctx.records('scimToken').update(id, { expires: new Date(end) })
  return next
}

/** Oldest first, at most 100. */
export async function listTokens(ctx: AnyContext, directoryId: string): Promise<ScimToken[]> {
  const { rows } = await ctx.records('scimToken').find({ where: { directoryId }, limit: 100 })
  return rows.map(toToken)
}

/** The token is rejected from now on. False: there is no such token. */
export function revokeToken(ctx: AnyContext, id: string): Promise<boolean> {
  return ctx.records('scimToken').delete(id)
}

/**
 * The row of a token that a request brought; null: this server did not make it, or it has expired. A token of another product is known by the digest that the product kept, and
 * from its first use on as every other one.
 */
export async function findToken(ctx: AnyContext, token: string): Promise<Row<TokenRow> | null> {
  const table = ctx.records('scimToken')
  const digest = await digestToken(token)
  const known = await table.get({ digest })
  const former = ctx.app.services.scimTokenDigests
  if (known || !former || token.startsWith('scim_')) return known
  for (const one of await former.digestsOf(ctx, token)) {
    const row = await table.get({ digest: one })
    if (row) return table.update(row.id, { digest, tail: token.slice(-4) })
  }
  return null
}

/** Notes that the token was used, at most once an hour. */
export async function noteUse(ctx: AnyContext, { id, used }: Row<TokenRow>): Promise<void> {
  if (!used || ctx.now.getTime() - used.getTime() > hour) await ctx.records('scimToken').update(id, { used: ctx.now }, { if: { used } })
}

// 128 random bits and more need no slow hash.
async function digestToken(token: string): Promise<string> {
  return toHex(await sha256(token))
}

function toToken({ id, tail, scope, created, expires, used }: Row<TokenRow>): ScimToken {
  return { id, shown: `scim_…${tail}`, scope: scope as TokenScope, created, expires, lastUsed: used }
}
