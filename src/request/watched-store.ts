/** The store of a context: deleting a user is asked about, takes along what plugins keep for the person, and both ways of leaving are told. */
import type { AccountKey, AdapterAccount, Store } from '../contract/adapter.ts'
import type { CommonContext } from '../contract/context.ts'
import { AccessDenied } from '../errors/index.ts'
import { sha256, toHex } from '../keys/crypto.ts'
import { overlay } from '../registry/overlay.ts'
import type { Erasure } from '../registry/compile.ts'
import { createRecordTable } from '../store/records.ts'
import { recordScope, type Scoped } from './record-scope.ts'

type Watching = Scoped &
  Pick<CommonContext, 'access' | 'ask' | 'emit' | 'has' | 'session'> & { readonly services: { store?: Store | undefined } }

// As many rows as one query answers.
const page = 1_000

/** The store itself where no plugin listens and nothing is to be erased. */
export function watchedStore(ctx: Watching): Store | undefined {
  const { store } = ctx.services
  if (!store) return undefined
  const [asks, deleted, unlinked] = [ctx.has('hook', 'deleteUser'), ctx.has('on', 'deleteUser'), ctx.has('on', 'unlinkAccount')]
  const erases = ctx.compiled.records.has('erasure')
  const ends = ctx.compiled.records.has('access')
  if (!asks && !deleted && !unlinked && !erases && !ends) return store
  return overlay<Store>(store, {
    async deleteUser(userId) {
      // Nothing is written before all have agreed.
      for (const final of asks ? [false, true] : [])
        if ((await ctx.ask('deleteUser', { userId, final })) !== true)
          throw new AccessDenied('The `deleteUser` hook refused to delete the user.')
      // First of all: a deletion that fails half-way leaves no session.
      if (ends) await endAccess(ctx, userId)
      if (erases) await noteErasure(ctx, userId)
      const answer = await store.deleteUser(userId)
      if (erases) await eraseRecords(ctx, userId)
      // Stored sessions went with the user. Tokens of a sign-in that began in between did not.
      if (ends && !ctx.session.storedUsers) await endAccess(ctx, userId)
      // Null: no user had the id. Published adapters answer nothing.
      if (answer !== null) await ctx.emit('deleteUser', { userId })
      return answer
    },
    async unlinkAccount(key) {
      const before = unlinked && store.supports('getUserByAccount') ? await store.getUserByAccount(key) : null
      const answer = await store.unlinkAccount(key)
      const userId = (answer as AdapterAccount | null | undefined)?.userId ?? before?.id
      if (answer !== null && userId !== undefined) await ctx.emit('unlinkAccount', { userId, account: keyOf(key) })
      return answer
    },
  })
}

/** Finishes deletions that a crash interrupted; answers how many. A person who is still there was not deleted, and keeps everything. */
export async function finishErasures(ctx: Watching): Promise<number> {
  if (!ctx.compiled.records.has('erasure')) return 0
  const table = createRecordTable<Erasure>('erasure', { ...recordScope(ctx), namespace: '' })
  let [finished, cursor]: [number, string | undefined] = [0, undefined]
  do {
    const found: Awaited<ReturnType<typeof table.find>> = await table.find({ limit: page, cursor })
    for (const { id, tenant, userId } of found.rows) {
      const { store } = ctx.compiled.scoped(tenant)
      if (store?.supports('getUser') && (await store.getUser(userId))) await table.delete(id)
      else await eraseRecords(ctx, userId, tenant)
      finished++
    }
    cursor = found.cursor
  } while (cursor !== undefined)
  return finished
}

async function endAccess(ctx: Watching, userId: string): Promise<void> {
  await ctx.access.end({ userId }, { by: 'deleteUser', reason: 'deletion', sessions: 'whereEndable' })
}

async function noteErasure(ctx: Watching, userId: string): Promise<void> {
  const table = createRecordTable<Erasure>('erasure', { ...recordScope(ctx), namespace: '' })
  const tenant = ctx.settings.namespace
  await table.put({ id: await idOf(userId, tenant), tenant, userId, at: new Date(ctx.runtime.now()) })
}

/** The user goes before the rows, so that a crash never leaves a person without their second factor. */
async function eraseRecords(ctx: Watching, userId: string, tenant = ctx.settings.namespace): Promise<void> {
  const scope = { ...recordScope(ctx), namespace: tenant }
  for (const [name, { stored }] of ctx.compiled.records) {
    if (stored.owner === undefined) continue
    await createRecordTable(name, scope).deleteWhere({ where: { [stored.owner]: userId } })
  }
  await createRecordTable('erasure', { ...scope, namespace: '' }).delete(await idOf(userId, tenant))
}

async function idOf(userId: string, tenant: string): Promise<string> {
  return toHex(await sha256(JSON.stringify([tenant, userId])))
}

function keyOf({ provider, providerAccountId }: AccountKey): AccountKey {
  return { provider, providerAccountId }
}
