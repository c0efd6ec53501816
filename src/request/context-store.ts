/** What a context adds to the store: deletions that hooks and events hear of, the scope of records, and leases. */
import type { AccountKey, AdapterAccount, Store } from '../contract/adapter.ts'
import type { CommonContext } from '../contract/context.ts'
import type { RecordTable } from '../contract/records.ts'
import type { Lease } from '../contract/services.ts'
import { AccessDenied, AuthError } from '../errors/index.ts'
import { sha256, toBase64Url, toHex } from '../keys/crypto.ts'
import type { Erasure } from '../registry/compile.ts'
import { layOver } from '../registry/overlay.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import { setBounded } from '../runtime/shared.ts'
import { readRows } from '../store/records.ts'
import { RecordConflict } from '../store/record-spec.ts'
import { createRecordTable, type RecordScope } from '../store/records.ts'

/** What is needed of a context. */
type ScopeContext = Pick<CommonContext, 'settings' | 'runtime' | 'logger' | 'seal' | 'open' | 'service'> & { readonly compiled: Snapshot }
/** The kernel's own record of leases, declared where any record is. */
interface LeaseFields extends Record<string, unknown> {
  holder: string
  until: Date
}
type StoreContext = ScopeContext &
  Pick<CommonContext, 'access' | 'ask' | 'emit' | 'has' | 'session'> & { readonly services: { store?: Store | undefined } }

const maxLeases = 10_000
// Characters of the id of a row.
const maxId = 64
const remedy =
  'No secret decrypts these fields, so the rows count as absent. Add the secret that was dropped again behind the newest one, run `npx authkernel reseal`, and then drop it.'

/** The store itself where no plugin listens and nothing is to be erased. */
export function watchedStore(ctx: StoreContext): Store | undefined {
  const { store } = ctx.services
  if (!store) return undefined
  const [asks, deleted, unlinked] = [ctx.has('hook', 'deleteUser'), ctx.has('on', 'deleteUser'), ctx.has('on', 'unlinkAccount')]
  const erases = ctx.compiled.records.has('erasure')
  // Without records the numbers of endings are in this process, for logins that wait.
  const ends = ctx.compiled.records.has('access') || ctx.has('hook', 'login')
  if (!asks && !deleted && !unlinked && !erases && !ends) return store
  return layOver<Store>(store, {
    async deleteUser(userId) {
      // Nothing is written before all have agreed.
      for (const final of asks ? [false, true] : [])
        if ((await ctx.ask('deleteUser', { userId, final })) !== true) throw new AccessDenied('The `deleteUser` hook kept the user.')
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

/** Finishes deletions that a crash interrupted; answers how many. A user who is still there was not deleted, and keeps everything. */
export async function finishErasures(ctx: StoreContext): Promise<number> {
  if (!ctx.compiled.records.has('erasure')) return 0
  const table = createRecordTable<Erasure>('erasure', { ...recordScope(ctx), namespace: '' })
  let finished = 0
  for await (const { id, tenant, userId } of readRows(table)) {
    const { store } = ctx.compiled.scoped(tenant)
    if (store?.supports('getUser') && (await store.getUser(userId))) await table.delete(id)
    else await eraseRecords(ctx, userId, tenant)
    finished++
  }
  return finished
}

async function endAccess(ctx: StoreContext, userId: string): Promise<void> {
  await ctx.access.end({ userId }, { by: 'deleteUser', reason: 'deletion', sessions: 'whereEndable' })
}

async function noteErasure(ctx: StoreContext, userId: string): Promise<void> {
  const table = createRecordTable<Erasure>('erasure', { ...recordScope(ctx), namespace: '' })
  const tenant = ctx.settings.namespace
  await table.put({ id: await idOf(userId, tenant), tenant, userId, at: new Date(ctx.runtime.now()) })
}

/** The user goes before the rows, so that a crash never leaves a user without their second factor. */
async function eraseRecords(ctx: StoreContext, userId: string, tenant = ctx.settings.namespace): Promise<void> {
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

/** Throws AuthError when no plugin provides records. */
export function recordScope(ctx: ScopeContext): RecordScope {
  const { compiled, settings, runtime } = ctx
  return {
    store: ctx.service('records'),
    namespace: settings.namespace,
    deadline: compiled.config.deadlines.store,
    now: () => runtime.now(),
    newId: () => toBase64Url(runtime.random(16)),
    declared(name) {
      const known = compiled.records.get(name)
      if (!known) throw new AuthError(`No plugin declared the record "${name}": call kernel.records("${name}", …) in the plugin's setup.`)
      return known
    },
    unreadable: (record, fields) => warnUnreadable(ctx, record, fields),
    seal: (purpose, payload) => ctx.seal(purpose, payload, null),
    open: (purpose, token) => ctx.open(purpose, token, true),
  }
}

/** Once for each record and process: an operator who dropped a secret too early sees it, and the log stays readable. */
function warnUnreadable({ compiled, logger }: ScopeContext, record: string, fields: readonly string[]): void {
  const warnings = compiled.shared.cache<true>('unreadable records')
  if (warnings.has(record)) return
  warnings.set(record, true)
  logger.warn('unreadable-record', { record, fields, remedy })
}

/** A lease over records where there are some, else one of this process. */
export async function takeLease(ctx: ScopeContext, key: string, seconds: number): Promise<Lease | null> {
  const holder = toBase64Url(ctx.runtime.random(16))
  const until = (length: number): Date => new Date(ctx.runtime.now() + length * 1000)
  if (!ctx.compiled.records.has('lease')) return takeHere(ctx, key, holder, seconds)
  const table = createRecordTable<LeaseFields>('lease', recordScope(ctx))
  // Keys have addresses and domains in them, which are longer than an id may be.
  const id = [...key].length > maxId ? toHex(await sha256(key)) : key
  if (!(await insertLease(table, id, holder, until(seconds)))) return null
  return {
    renew: async (length) => (await table.update(id, { until: until(length) }, { if: { holder } })) !== null,
    // Deleting it could delete the next holder's.
    release: async () => void (await table.take(id, { if: { holder } })),
  }
}

/** An ended lease is gone by its `expires`, so a plain insert decides who is first. */
async function insertLease(table: RecordTable<LeaseFields>, id: string, holder: string, until: Date): Promise<boolean> {
  try {
    await table.create({ id, holder, until })
    return true
  } catch (error) {
    if (error instanceof RecordConflict) return false
    throw error
  }
}

function takeHere({ compiled, settings, runtime }: ScopeContext, key: string, holder: string, seconds: number): Lease | null {
  const held = compiled.shared.cache<{ holder: string; until: number }>('leases')
  const id = JSON.stringify([settings.namespace, key])
  const mine = (): boolean => held.get(id)?.holder === holder && (held.get(id)?.until ?? 0) > runtime.now()
  if ((held.get(id)?.until ?? 0) > runtime.now()) return null
  setBounded(held, id, { holder, until: runtime.now() + seconds * 1000 }, maxLeases)
  return {
    async renew(length) {
      if (!mine()) return false
      held.set(id, { holder, until: runtime.now() + length * 1000 })
      return true
    },
    async release() {
      if (mine()) held.delete(id)
    },
  }
}
