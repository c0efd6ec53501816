/** What a user has: shown to the user, and told from what a thief added when the owner takes the account back. */
import type { AdapterAuthenticator, AdapterUser, Store } from '../contract/adapter.ts'
import type { AnyContext } from '../contract/context.ts'
import type { Row } from '../contract/records.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { listRows, readRows } from '../store/records.ts'
import { freeAddress } from './unproved.ts'

/** What a user had, as texts that open nothing: accounts and passkeys have no date in a store of Auth.js. */
export type Holdings = readonly string[]

/** What the user has now, to distinguish it from what comes later. At most `most`; what is beyond counts as added later. */
export async function holdingsOf(ctx: AnyContext, userId: string, most = 100): Promise<Holdings> {
  const { accounts, passkeys } = await listHoldings(ctx, userId)
  const names = [...accounts.map(({ name }) => name), ...passkeys.map(({ name }) => name)]
  return (await Promise.all(names.map((name) => digestHolding(ctx, name)))).slice(0, most)
}

/**
 * Removes accounts and passkeys that `had` does not name, and rows of records that give access (`added`) and are not older than `since`. Accounts stay
 * where the adapter cannot list or unlink them. Sessions are not ended: do that before, and once more afterwards.
 */
export async function removeAdded(ctx: AnyContext, userId: string, { had, since }: { had: Holdings; since: Date }): Promise<void> {
  const store = ctx.service('store')
  const { accounts, passkeys } = await listHoldings(ctx, userId)
  const known = new Set(had)
  for (const { name, remove } of [...passkeys, ...accounts]) if (!known.has(await digestHolding(ctx, name))) await remove(store)
  for (const { spec, stored } of (ctx as KernelContext).compiled.records.values()) {
    if (spec.added === undefined || stored.owner === undefined) continue
    const table = ctx.records(stored.name)
    for await (const row of readRows(table, { where: { [stored.owner]: userId } }))
      if (spec.added === null || isSince(row[spec.added], since)) await table.delete(row.id)
  }
}

/** Takes an address from a user who never proved it, for the one who has. False: the user is there and has proved it. */
export async function takeAddressFrom(ctx: AnyContext, address: string, owner: string): Promise<boolean> {
  const holder: AdapterUser | null = await ctx.service('store').getUserByEmail(address)
  if (!holder || holder.id === owner) return true
  if (holder.emailVerified) return false
  await freeAddress(ctx as KernelContext, holder)
  return true
}

/**
 * Rows of every record that names an owner (`RecordSpec.owner`), by the name of the record; records without a row are left out. Fields that are encrypted at rest
 * or marked as `secret` are left out, and ids that a plugin chose, which may be hashes of secrets. Empty without the service `records`.
 */
export async function listOwnedRows(ctx: AnyContext, userId: string): Promise<Record<string, Row<Record<string, unknown>>[]>> {
  const owned: Record<string, Row<Record<string, unknown>>[]> = {}
  if (!ctx.app.services.records) return owned
  for (const { spec, stored, fields } of (ctx as KernelContext).compiled.records.values()) {
    if (stored.owner === undefined) continue
    const hidden = [...fields].filter(([, { sealed, secret }]) => sealed || secret).map(([field]) => field)
    if (spec.id === 'given') hidden.push('id')
    const rows = await listRows(ctx.records(stored.name), { where: { [stored.owner]: userId } })
    if (rows.length > 0) owned[stored.name] = rows.map((row) => withoutFields(row, hidden))
  }
  return owned
}

/** How many rows each of these records has, by its name; records without a row are left out. */
export async function countOwnedRows(ctx: AnyContext, userId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  if (!ctx.app.services.records) return counts
  for (const { stored } of (ctx as KernelContext).compiled.records.values()) {
    if (stored.owner === undefined) continue
    const count = await ctx.records(stored.name).count({ [stored.owner]: userId }, { max: Number.MAX_SAFE_INTEGER })
    if (count > 0) counts[stored.name] = count
  }
  return counts
}

interface Holding {
  name: string
  remove(store: Store): Promise<unknown>
}

async function listHoldings(ctx: AnyContext, userId: string): Promise<{ accounts: Holding[]; passkeys: Holding[] }> {
  const store = ctx.service('store')
  const rows = store.supports('listAccountsByUserId') && store.supports('unlinkAccount') ? await store.listAccountsByUserId(userId) : []
  const keys: AdapterAuthenticator[] =
    store.supports('listAuthenticatorsByUserId') && store.supports('deleteAuthenticator')
      ? await store.listAuthenticatorsByUserId(userId)
      : []
  return {
    accounts: rows.map(({ provider, providerAccountId }) => ({
      name: JSON.stringify([provider, providerAccountId]),
      remove: async (from) => from.unlinkAccount({ provider, providerAccountId }),
    })),
    passkeys: keys.map(({ credentialID }) => ({
      name: JSON.stringify([credentialID]),
      remove: async (from) => from.deleteAuthenticator(credentialID),
    })),
  }
}

// A store may keep whole seconds.
function isSince(date: unknown, since: Date): boolean {
  return !(date instanceof Date) || Math.floor(date.getTime() / 1000) >= Math.floor(since.getTime() / 1000)
}

async function digestHolding(ctx: AnyContext, name: string): Promise<string> {
  return (await ctx.digest('holdings', name)).slice(0, 16)
}

function withoutFields(row: Row<Record<string, unknown>>, hidden: readonly string[]): Row<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).filter(([field]) => !hidden.includes(field))) as Row<Record<string, unknown>>
}
