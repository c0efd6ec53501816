/** Users with an unverified address: what may not be added to them, and how its owner gets the address (GHSA-g38m-r43w-p2q7). */
import type { AdapterAccount, AdapterUser, Store } from '../contract/adapter.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Provider } from '../contract/provider.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { abilitiesOf } from '../registry/strategies.ts'
import { endSessions } from '../access/end.ts'
import type { AnyContext } from '../contract/context.ts'

/**
 * `typed`: the user was made by typing an address, a passkey for example. `dormant`: likewise, and nothing of it has signed a user in. `claimed`: by a
 * provider that does not vouch for the address. `believed`: it was proved, a provider vouches for it, or nothing leads into the user.
 */
export type Claim = 'believed' | 'typed' | 'dormant' | 'claimed'

/**
 * Whether the user was made by what any visitor gets for a typed address, such as a passkey, and the address was not proved where that can be done. The user who proves it gets the
 * user: nothing is added to it before.
 */
export async function hasTypedAddress(ctx: AnyContext, userId: string): Promise<boolean> {
  if (!ctx.app.services.mailTransport || !ctx.store) return false
  const user = await ctx.store.getUser(userId)
  return user !== null && isTypedClaim(await claimOf(ctx as KernelContext, user))
}

/**
 * Whether the user has nothing but what any visitor gets by typing the address, and signs in by it. Accounts are listed only then (row 202): a passkey
 * that is gone signs in no attacker.
 */
export async function isTyped(ctx: KernelContext, user: AdapterUser): Promise<boolean> {
  if (user.emailVerified || !user.email || !((await findTyped(ctx, user)) || (await isShared(ctx, user)))) return false
  return isTypedClaim(await claimOf(ctx, user))
}

function isTypedClaim(claim: Claim): boolean {
  return claim === 'typed' || claim === 'dormant'
}

/**
 * What the address of a stored user is worth: the one answer for every way in. An email verification stores `emailVerified` at that moment, so a user without it has not verified the email by any method.
 */
export async function claimOf(ctx: KernelContext, user: AdapterUser): Promise<Claim> {
  if (user.emailVerified || !user.email) return 'believed'
  const shared = await isShared(ctx, user)
  const found = shared || (await findTyped(ctx, user))
  const accounts = await accountsOf(ctx, user)
  // The account of a passkey tells how the user was made, also where the passkey itself is gone.
  const typed = found === true || accounts?.some(({ type }) => findFlow(ctx, type)?.typed !== undefined) ? true : found
  if (!accounts) return typed ? 'typed' : (await doAllVouch(ctx, user.email)) ? 'believed' : 'claimed'
  // No user signs in by an account whose provider is gone.
  const others = accounts.filter(({ type, provider }) => findFlow(ctx, type)?.typed === undefined && ctx.app.providers.has(provider))
  if (others.length === 0) return typed === 'dormant' && accounts.length === 0 ? 'dormant' : typed ? 'typed' : 'believed'
  const words = await Promise.all(others.map((account) => wordOf(ctx, account.provider, account, user.email)))
  if (words.includes(true)) return 'believed'
  // An attacker can add the account of a silent provider to the one whose provider said no, and to a user made elsewhere by a typed address.
  return words.includes('silent') && !words.includes('denied') && !shared ? 'believed' : 'claimed'
}

/**
 * Another user verifies the email. Returns the user, emptied of everything that gave a way in, where sessions can be ended and accounts
 * removed. Else it is null: the user has lost the address and is not the owner's.
 */
export async function evictUser(ctx: KernelContext, user: AdapterUser, claim: Exclude<Claim, 'believed'>): Promise<AdapterUser | null> {
  const store = ctx.store as Store
  // Without a list of accounts it is not known whether a provider made the user. Taking only the address away is right for both.
  const addressOnly = claim === 'claimed' || !store.supports('listAccountsByUserId') || (claim !== 'dormant' && !canEmptyUser(ctx, store))
  const details = { what: addressOnly ? 'address' : 'all' }
  await ctx.emit('noted', { name: 'registration.evicted', outcome: 'success', user, details })
  if (addressOnly) {
    await freeAddress(ctx, user)
    return null
  }
  for (const flow of new Set(ctx.compiled.flows.values())) await flow.revokeUnverified?.(ctx, user)
  for (const account of (await accountsOf(ctx, user)) ?? []) await store.unlinkAccount(account)
  for (const { stored } of ctx.compiled.records.values())
    if (stored.owner !== undefined) await ctx.records(stored.name).deleteWhere({ where: { [stored.owner]: user.id } })
  await endSessions(ctx, { userId: user.id }, 'kernel')
  // Last: until then the user counts as typed, and an eviction that failed half-way is done again.
  await ctx.app.services.sharedCredentials?.remove(ctx, user.id)
  return user
}

/** A user who never proved the address loses it. */
export async function freeAddress(ctx: KernelContext, user: AdapterUser): Promise<void> {
  // A store with `nullableEmail` takes null, which the type of published adapters does not have.
  await (ctx.store as Store).updateUser({ id: user.id, email: null as never })
  // A token from before names the address.
  if (abilitiesOf(ctx.session).has('revoke:user')) await endSessions(ctx, { userId: user.id }, 'kernel')
  ctx.logger.warn('unproved-address-taken-back', { userId: user.id })
}

/** Whether any provider of the list can verify an email: only then is there a later owner to protect. */
export function canProveAddresses(ctx: KernelContext): boolean {
  return [...ctx.app.providers.values()].some((provider) => ctx.flow(provider).provesAddress?.(provider) === true)
}

// A jwt session names its user by id: while it cannot be ended at once and everywhere, the id must not become the owner's.
function canEmptyUser({ session, compiled }: KernelContext, store: Store): boolean {
  if (!abilitiesOf(session).has('revoke:user') || !store.supports('unlinkAccount')) return false
  // Other processes believe a revoked token for some seconds more.
  return session.storedUsers ? store.supports('deleteSessionsByUserId') : compiled.services.revocations === undefined
}

/** Whether another product keeps credentials of the user. */
async function isShared(ctx: KernelContext, { id }: AdapterUser): Promise<boolean> {
  return (await ctx.app.services.sharedCredentials?.has(ctx, id)) ?? false
}

async function findTyped(ctx: KernelContext, user: AdapterUser): Promise<boolean | 'dormant'> {
  let found: boolean | 'dormant' = false
  for (const flow of typedFlows(ctx)) {
    const typed = await flow.typed?.(ctx, user)
    if (typed === true) return true
    if (typed) found = typed
  }
  return found
}

/** Flows of the providers that are there, each once. */
function typedFlows(ctx: KernelContext): Set<ProviderFlow<Provider>> {
  const flows = [...ctx.app.providers.values()].map(({ type }) => findFlow(ctx, type))
  return new Set(flows.filter((flow) => flow?.typed !== undefined) as ProviderFlow<Provider>[])
}

async function accountsOf({ store }: KernelContext, { id }: AdapterUser): Promise<AdapterAccount[] | undefined> {
  return store?.supports('listAccountsByUserId') ? store.listAccountsByUserId(id) : undefined
}

/** What a provider says of the address; `account` undefined: the adapter cannot list accounts. A provider that is gone says nothing against it. */
async function wordOf(
  ctx: KernelContext,
  providerId: string,
  account: AdapterAccount | undefined,
  email: string,
): Promise<boolean | 'silent' | 'denied'> {
  const provider: Provider | undefined = ctx.app.providers.get(providerId)
  return !provider || ((await ctx.flow(provider).vouches?.(provider, account, email, ctx)) ?? true)
}

async function doAllVouch(ctx: KernelContext, email: string): Promise<boolean> {
  const words = await Promise.all([...ctx.app.providers.keys()].map((id) => wordOf(ctx, id, undefined, email)))
  return words.every((word) => word === true || word === 'silent')
}

function findFlow(ctx: KernelContext, type: string): ProviderFlow<Provider> | undefined {
  return ctx.compiled.flows.get(type)
}
