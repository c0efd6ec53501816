/** Sessions of other browsers: listed, and ended by id, by user, and by what the provider calls them. */
import {
  type AdapterSession,
  type AnyContext,
  type Row,
  type SessionAttributes,
  type SessionCookie,
  type SessionFields,
  type SessionInfo,
  type SessionSelector,
  type Store,
} from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { indexedName } from 'authkernel/kernel/strategies'
import { type AttributeStore, readSessionToken, sessionIdOf, sessionRows } from './attributes.ts'

type FoundSession = { id: string; token: string }

// One statement for all sessions of a user.
const limit = 100_000

/** The newest first. From the rows of the adapter, with what is kept of them; from records alone where the adapter cannot list. */
export async function listSessions(
  ctx: AnyContext,
  userId: string,
  attributeStore: AttributeStore | undefined,
  maxAge: number,
): Promise<SessionInfo[]> {
  const { store } = ctx
  const rows = attributeStore?.findable ? await listRows(sessionRows(ctx), { where: { userId }, limit }) : []
  const byId = new Map(rows.map((row) => [row.id, row]))
  if (!store?.supports('listSessionsByUserId'))
    return rows
      .map(({ id, expires, started, lastUsed, attributes }) => toInfo(userId, id, expires, started, lastUsed, attributes))
      .toReversed()
  const alive = (await store.listSessionsByUserId(userId)).filter(({ expires }) => expires > ctx.now)
  const infos = await Promise.all(
    alive.map(async ({ sessionToken, expires, createdAt }) => {
      const id = await sessionIdOf(sessionToken)
      const row = byId.get(id)
      // The end moves with each use that extends it.
      const lastUsed = new Date(expires.getTime() - maxAge * 1000)
      const used = createdAt && createdAt > lastUsed ? createdAt : lastUsed
      return toInfo(userId, id, expires, row?.started ?? createdAt ?? null, used, row?.attributes ?? null)
    }),
  )
  return infos.sort((a, b) => (b.createdAt?.getTime() ?? 0) - (a.createdAt?.getTime() ?? 0))
}

function toInfo(
  userId: string,
  id: string,
  expires: Date,
  createdAt: Date | null,
  lastUsed: Date | null,
  attributes: unknown,
): SessionInfo {
  return { id, userId, expires, createdAt, lastUsed, attributes: attributes as SessionAttributes | null }
}

/** How many were ended; undefined where the adapter does not say. */
export async function revokeSessions(
  ctx: AnyContext,
  which: SessionSelector,
  attributeStore: AttributeStore | undefined,
  cookie: SessionCookie | undefined,
): Promise<number | undefined> {
  const store = ctx.store as Store
  if ('id' in which) return revokeOne(ctx, store, which, attributeStore)
  if ('userId' in which) return revokeUser(ctx, store, which, attributeStore, cookie)
  const name = 'sid' in which ? { sid: await indexedName(which.sid) } : { sub: await indexedName(which.sub) }
  const range = which.until === undefined ? {} : { range: { started: { lte: new Date(which.until) } } }
  const query = { where: { provider: which.provider, ...name }, ...range }
  const found = await listRows(sessionRows(ctx), { ...query, limit })
  const sub = 'sid' in which && which.sub !== undefined ? await indexedName(which.sub) : undefined
  const rows = sub === undefined ? found : found.filter((row) => row.sub === sub)
  await deleteTokens(store, await tokensOf(ctx, store, rows))
  // Rows without a session show nowhere where the adapter lists sessions, and end by themselves.
  if (which.brief && store.supports('listSessionsByUserId')) return undefined
  // After the sessions: what a crash leaves behind is found again.
  if (rows.length < found.length) for (const { id } of rows) await sessionRows(ctx).delete(id)
  else if (rows.length > 0) await sessionRows(ctx).deleteWhere(query)
  return rows.length
}

async function revokeOne(
  ctx: AnyContext,
  store: Store,
  { id, userId }: { id: string; userId?: string },
  attributeStore: AttributeStore | undefined,
): Promise<number> {
  const row = attributeStore?.findable ? await sessionRows(ctx).get(id) : null
  const found = row?.token ? { id, token: row.token, userId: row.userId } : await findOne(ctx, store, id, userId)
  if (!found || (userId !== undefined && found.userId !== userId)) return 0
  await store.deleteSession(found.token)
  if (row) await attributeStore?.end(ctx, id)
  return 1
}

/** Among the sessions of a user: an adapter finds none by its id. */
async function findOne(
  ctx: AnyContext,
  store: Store,
  id: string,
  userId: string | undefined,
): Promise<(FoundSession & { userId: string }) | undefined> {
  if (userId === undefined || !store.supports('listSessionsByUserId')) return undefined
  for (const { sessionToken, expires } of await store.listSessionsByUserId(userId)) {
    if (expires > ctx.now && (await sessionIdOf(sessionToken)) === id) return { id, token: sessionToken, userId }
  }
  return undefined
}

async function revokeUser(
  ctx: AnyContext,
  store: Store,
  { userId, except }: { userId: string; except?: string },
  attributeStore: AttributeStore | undefined,
  cookie: SessionCookie | undefined,
): Promise<number | undefined> {
  const listed = store.supports('listSessionsByUserId') ? await withIds(await store.listSessionsByUserId(userId)) : undefined
  const own = except === undefined ? undefined : ((await ownToken(ctx, except, cookie)) ?? listed?.find(({ id }) => id === except)?.token)
  const gone = listed?.filter(({ id }) => id !== except)
  if (store.supports('deleteSessionsByUserId') && (except === undefined || own !== undefined))
    await store.deleteSessionsByUserId(userId, own === undefined ? undefined : { sessionToken: own })
  else
    await deleteTokens(
      store,
      (gone ?? []).map(({ token }) => token),
    )
  if (attributeStore?.findable) await forgetUser(ctx, userId, except)
  return gone?.length
}

async function forgetUser(ctx: AnyContext, userId: string, except: string | undefined): Promise<void> {
  if (except === undefined) return void (await sessionRows(ctx).deleteWhere({ where: { userId } }))
  for (const { id } of await listRows(sessionRows(ctx), { where: { userId }, limit })) if (id !== except) await sessionRows(ctx).delete(id)
}

/** The token of the browser that asks, when it is the session of that id: the form that the adapter takes. */
async function ownToken(ctx: AnyContext, id: string, cookie: SessionCookie | undefined): Promise<string | undefined> {
  const token = ctx.request ? await readSessionToken(ctx, cookie) : undefined
  return token !== undefined && (await sessionIdOf(token)) === id ? token : undefined
}

/** A token that no secret decrypts any more is found among those of its user: the session lives on without the secret. */
async function tokensOf(ctx: AnyContext, store: Store, rows: readonly Row<SessionFields>[]): Promise<string[]> {
  const found = await Promise.all(rows.map(async ({ id, userId, token }) => token ?? (await findOne(ctx, store, id, userId))?.token))
  return found.filter((token) => token !== undefined)
}

async function withIds(rows: readonly AdapterSession[]): Promise<FoundSession[]> {
  return Promise.all(rows.map(async ({ sessionToken }) => ({ id: await sessionIdOf(sessionToken), token: sessionToken })))
}

async function deleteTokens(store: Store, tokens: readonly string[]): Promise<void> {
  if (tokens.length === 0) return
  if (store.supports('deleteSessions')) return void (await store.deleteSessions(tokens))
  for (const token of tokens) await store.deleteSession(token)
}
