/** Who a request with an API key is. */
import { type Context, equal, HttpError, type Session } from 'authkernel/kernel'
import { parseKey } from './format.ts'
import { hashOf } from './manage.ts'
import type { ResolvedOptions } from './options.ts'
import { type ApiKey, never, toApiKey } from './table.ts'

const minute = 60_000

/** Undefined: the request has no key. Null: it has one, and it is nobody's. Throws HttpError 400 for two keys, 429 beyond the key's limit. */
export async function authenticate(ctx: Context, options: ResolvedOptions): Promise<Session | null | undefined> {
  const text = presented(ctx, options.prefix)
  if (text === undefined) return undefined
  const key = await verify(ctx, options, text)
  if (!key) return refused(ctx, 'unknown')
  const user =
    'userId' in key.owner ? await ownerOf(ctx, key.owner.userId) : { name: 'service' in key.owner ? key.owner.service : 'tenant' }
  if (!user) return refused(ctx, 'owner', key.id)
  // A plugin that knows of bans, or of members that left, says so here.
  if (ctx.has('hook', 'apiKey') && (await ctx.ask('apiKey', { key })) !== true) return refused(ctx, 'hook', key.id)
  await count(ctx, key)
  await touch(ctx, key)
  const scopes = await rights(ctx, options, key)
  const end = Math.min((key.expires ?? never).getTime(), ctx.now.getTime() + 60 * minute)
  return { user, expires: new Date(end).toISOString(), apiKey: { id: key.id, name: key.name, env: key.env, scopes, owner: key.owner } }
}

async function refused(ctx: Context, reason: string, id?: string): Promise<null> {
  await ctx.emit('noted', { name: 'apiKey.refused', outcome: 'denied', reason, details: { id } })
  return null
}

/** The live key of a text; null for any other. */
export async function verify(ctx: Context, options: ResolvedOptions, text: string): Promise<ApiKey | null> {
  const parts = parseKey(text, options.prefix)
  const row = parts && (await ctx.records('apiKey').get(parts.id))
  if (!parts || !row || row.env !== parts.env || !equal(row.hash, await hashOf(parts.secret))) return null
  return toApiKey(row, options.prefix)
}

// Never from the address: queries are written to logs.
function presented(ctx: Context, prefix: string): string | undefined {
  const { headers } = ctx.request
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  // Other bearer tokens are for other plugins.
  const own = headers.get('x-api-key')?.trim()
  if (own !== undefined && bearer !== undefined && own !== bearer)
    throw new HttpError(400, 'Two different credentials were sent. Send one, in Authorization or in x-api-key.')
  const given = [bearer?.startsWith(`${prefix}_`) ? bearer : undefined, own]
  return given.find((one) => one !== undefined)
}

async function ownerOf(ctx: Context, userId: string): Promise<NonNullable<Session['user']> | null> {
  if (!ctx.store?.supports('getUser')) return { id: userId }
  const user = await ctx.store.getUser(userId)
  return user && { id: user.id, name: user.name ?? null, email: user.email ?? null, image: user.image ?? null }
}

async function rights(ctx: Context, { can }: ResolvedOptions, key: ApiKey): Promise<string[]> {
  const held = await Promise.all(key.scopes.map(async (scope) => !can || (await can({ key, scope, ctx }))))
  return key.scopes.filter((_, index) => held[index])
}

async function count(ctx: Context, { id, limit }: ApiKey): Promise<void> {
  if (!limit) return
  const { allowed, retryAfter } = await ctx.limit.take(`apiKey:${id}`, limit)
  if (!allowed) throw new HttpError(429, 'This API key was used too often.', { 'Retry-After': String(retryAfter) })
}

// At most one write a minute, whatever the traffic. Of several processes one writes.
async function touch(ctx: Context, { id, lastUsed }: ApiKey): Promise<void> {
  if (lastUsed && ctx.now.getTime() - lastUsed.getTime() < minute) return
  try {
    await ctx.records('apiKey').update(id, { used: ctx.now }, { if: { used: lastUsed } })
  } catch (error) {
    ctx.logger.error(error as Error)
  }
}
