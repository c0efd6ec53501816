/** Who a request with an API key is. */
import { type AnyContext, type Context, equal, HttpError, type Row, type Session } from 'authkernel/kernel'
import { toSessionUser } from 'authkernel/kernel/strategies'
import { parseKey } from './format.ts'
import { findImportedKey } from './key-import.ts'
import { hashKeySecret } from './manage.ts'
import type { ResolvedOptions } from './options.ts'
import { type ApiKey, type ApiKeyRow, type KeyOrganization, never, toApiKey } from './tables.ts'

const minute = 60_000

/** Undefined: the request has no key. Null: it has one, and the key is rejected. Throws HttpError 400 for two keys, 429 beyond the key's limit. */
export async function authenticateKey(ctx: Context, options: ResolvedOptions): Promise<Session | null | undefined> {
  const text = readKey(ctx, options.prefix)
  if (text === undefined) return undefined
  const result = await verifyKey(ctx, options, text)
  if ('reason' in result) return noteRefusal(ctx, result.reason, result.id)
  const { key, user, organization } = result
  await countUse(ctx, key)
  await recordUse(ctx, key)
  const end = Math.min((key.expires ?? never).getTime(), ctx.now.getTime() + 60 * minute)
  const { id, name, env, scopes, owner } = key
  return {
    user,
    expires: new Date(end).toISOString(),
    ...(organization && { organization }),
    apiKey: { id, name, env, scopes, owner, ...(organization && { organization: organization.id }) },
  }
}

async function noteRefusal(ctx: Context, reason: string, id?: string): Promise<null> {
  await ctx.emit('noted', { name: 'apiKey.refused', outcome: 'denied', reason, details: { id } })
  return null
}

/** A key that counts now. */
export interface LiveKey {
  /** Its scopes are those that the owner has now. */
  key: ApiKey
  user: NonNullable<Session['user']>
  organization: KeyOrganization | undefined
}

/** The live key of a text, with its owner; or why it is rejected. Counts no use. */
export async function verifyKey(ctx: Context, options: ResolvedOptions, text: string): Promise<LiveKey | { reason: string; id?: string }> {
  const parts = parseKey(text, options.prefix)
  const row = parts && (await ctx.records('apiKey').get(parts.id))
  if (!parts) {
    const taken = await findImportedKey(ctx, text)
    return taken ? findLiveKey(ctx, options, taken) : { reason: 'unknown' }
  }
  if (!row || row.env !== parts.env || !equal(row.hash, await hashKeySecret(parts.secret))) return { reason: 'unknown' }
  return findLiveKey(ctx, options, row)
}

/** Whether signed tokens that were issued for a key still count: where a resource server asks, they end with the key. */
export async function isKeyLive(ctx: AnyContext, options: ResolvedOptions, id: unknown): Promise<boolean> {
  const row = typeof id === 'string' ? await ctx.records('apiKey').get(id) : null
  return row !== null && 'key' in (await findLiveKey(ctx, options, row))
}

async function findLiveKey(
  ctx: AnyContext,
  options: ResolvedOptions,
  row: Row<ApiKeyRow>,
): Promise<LiveKey | { reason: string; id?: string }> {
  const key = toApiKey(row, options.prefix)
  const { id, owner } = key
  const user = 'userId' in owner ? await readUser(ctx, owner.userId) : { name: 'service' in owner ? owner.service : 'tenant' }
  if (!user) return { reason: 'owner', id }
  if ('userId' in owner && !(await ctx.access.allows(owner.userId, 'apiKey'))) return { reason: 'access', id }
  // The owner left the organization, or the organization is gone.
  const organization = await organizationOf(ctx, key)
  if (organization === null) return { reason: 'organization', id }
  // A plugin that knows of bans says so here.
  if (ctx.has('hook', 'apiKey') && (await ctx.ask('apiKey', { key })) !== true) return { reason: 'hook', id }
  return { key: { ...key, scopes: await currentScopes(ctx, options, key) }, user, organization }
}

/** Undefined: the key is for no organization. Null: its owner is no member. */
async function organizationOf(ctx: AnyContext, { owner, organization }: ApiKey): Promise<KeyOrganization | null | undefined> {
  if (organization === null) return undefined
  return 'userId' in owner ? ((await ctx.ask('keyOrganization', { organizationId: organization, userId: owner.userId })) ?? null) : null
}

// Never from the address: queries are written to logs.
function readKey(ctx: Context, prefix: string): string | undefined {
  const { headers } = ctx.request
  const [, scheme = '', value] = /^(Bearer|DPoP) +(.*)$/is.exec(headers.get('authorization') ?? '') ?? []
  // Whatever begins like a key is meant as one: two in a header, or one with another scheme, are refused, and the cookie is never read.
  const isKey = value?.startsWith(`${prefix}_`) === true
  const bearer = isKey && scheme.toLowerCase() === 'dpop' ? '' : value
  // Other bearer tokens are for other plugins.
  const own = headers.get('x-api-key')?.trim()
  if (own !== undefined && bearer !== undefined && own !== bearer)
    throw new HttpError(400, 'Two different credentials were sent. Send one, in Authorization or in x-api-key.')
  const texts = [isKey ? bearer : undefined, own]
  return texts.find((one) => one !== undefined)
}

async function readUser(ctx: AnyContext, userId: string): Promise<NonNullable<Session['user']> | null> {
  if (!ctx.store?.supports('getUser')) return { id: userId }
  const user = await ctx.store.getUser(userId)
  return user && toSessionUser(ctx.store, user)
}

async function currentScopes(ctx: AnyContext, { can }: ResolvedOptions, key: ApiKey): Promise<string[]> {
  const answers = await Promise.all(key.scopes.map(async (scope) => !can || (await can({ key, scope, ctx }))))
  return key.scopes.filter((_, index) => answers[index])
}

async function countUse(ctx: Context, { id, limit }: ApiKey): Promise<void> {
  if (!limit) return
  const { allowed, retryAfter } = await ctx.limit.take(`apiKey:${id}`, limit)
  if (!allowed) throw new HttpError(429, 'This API key was used too often.', { 'Retry-After': String(retryAfter) })
}

// At most one write a minute, whatever the traffic. Of several processes one writes.
async function recordUse(ctx: Context, { id, lastUsed }: ApiKey): Promise<void> {
  if (lastUsed && ctx.now.getTime() - lastUsed.getTime() < minute) return
  try {
    await ctx.records('apiKey').update(id, { used: ctx.now }, { if: { used: lastUsed } })
  } catch (error) {
    ctx.logger.error(error as Error)
  }
}
