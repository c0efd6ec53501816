/** What a user signs in with, and taking a linked account away without locking the user out. */
import type { AdapterAccount, AdapterUser } from '../contract/adapter.ts'
import type { AnyContext, Context } from '../contract/context.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Provider } from '../contract/provider.ts'
import { endSessions } from '../access/end.ts'
import { AuthError } from '../errors/index.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { abilitiesOf } from '../registry/strategies.ts'

/** The account is the last one of the user, who could not sign in again. */
export class LastAccount extends AuthError {
  static override type = 'LastAccount'
  static override row = { page: 'error' as const, status: 409, visible: true }
}

/** What `disconnectAccount` takes beside the account. */
export interface DisconnectOptions {
  /** Who asks, for messages and events. */
  by: string
  /** The user has another way in that this server does not know: the last account may go too. Default false. */
  last?: boolean
  /** Accounts of providers that this server does not know count as ways in. Default false. */
  unknownProviders?: boolean
}

/** Whether the user can sign in with one of `accounts`, or without an account: by a password, or a magic link or code. */
export async function canSignIn(ctx: AnyContext, user: AdapterUser, accounts: readonly AdapterAccount[]): Promise<boolean> {
  for (const account of accounts) if (await opens(ctx, user, account)) return true
  for (const provider of ctx.app.providers.values()) {
    const { canSignIn: asks } = flowOf(ctx, provider) ?? {}
    // Flows get the context that they are called with: one without a request has no cookies, and they ask for none here.
    if (asks && (await asks(ctx as Context, provider as never, user, undefined))) return true
  }
  return false
}

/**
 * Unlinks an account of the user with what its provider type stored beside it. Ends the other sessions of the user, because an attacker who connected the account may be signed in by it. Sessions stay where the strategy cannot end them. False: the user has no such account. Throws LastAccount when the user could not sign in again.
 */
export async function disconnectAccount(
  ctx: AnyContext,
  user: AdapterUser,
  { provider, providerAccountId }: Pick<AdapterAccount, 'provider' | 'providerAccountId'>,
  { by, last = false, unknownProviders = false }: DisconnectOptions,
): Promise<boolean> {
  const store = ctx.service('store')
  const accounts = await store.listAccountsByUserId(user.id)
  const account = accounts.find((each) => each.provider === provider && each.providerAccountId === providerAccountId)
  if (!account) return false
  const isLast = async (others: readonly AdapterAccount[]): Promise<boolean> => {
    if (unknownProviders && others.some((other) => !ctx.app.providers.has(other.provider))) return false
    // An account that opens nothing, such as one of a provider that is gone, may go while there is another one.
    if (others.length > 0 && !(await opens(ctx, user, account))) return false
    return !(await canSignIn(ctx, user, others))
  }
  if (!last && (await isLast(accounts.filter((each) => each !== account)))) throw lastAccountError(by)
  await store.unlinkAccount({ provider, providerAccountId })
  // Another one may have been disconnected at the same moment.
  if (!last && (await isLast(await store.listAccountsByUserId(user.id)))) {
    await store.linkAccount(account)
    throw lastAccountError(by)
  }
  await (ctx as KernelContext).compiled.flows.get(account.type)?.onUnlinked?.(ctx as Context, { provider, providerAccountId }, user.id)
  await removeAuthenticators(ctx, user.id, providerAccountId)
  if (abilitiesOf(ctx.session).has('revoke:user')) {
    const except = ctx.request ? await ctx.session.id?.(ctx) : undefined
    await endSessions(ctx, { userId: user.id, ...(except && { except }) }, by, 'credentialChanged')
  }
  return true
}

/** A passkey without its account would still sign in, also where the plugin of passkeys was taken out and comes back. */
async function removeAuthenticators(ctx: AnyContext, userId: string, providerAccountId: string): Promise<void> {
  const store = ctx.service('store')
  if (!store.supports('listAuthenticatorsByUserId') || !store.supports('deleteAuthenticator')) return
  for (const authenticator of await store.listAuthenticatorsByUserId(userId)) {
    if (authenticator.providerAccountId !== providerAccountId) continue
    await store.deleteAuthenticator(authenticator.credentialID)
    await ctx.emit('credentialChanged', { user: { id: userId }, kind: 'passkey', action: 'removed', id: authenticator.credentialID })
  }
}

async function opens(ctx: AnyContext, user: AdapterUser, account: AdapterAccount): Promise<boolean> {
  const provider = await ctx.providerById(account.provider).catch(() => undefined)
  const flow = provider && flowOf(ctx, provider)
  if (!flow) return false
  // The flow is that of the type of this provider.
  return flow.canSignIn ? flow.canSignIn(ctx as Context, provider as never, user, account) : true
}

function flowOf(ctx: AnyContext, provider: Provider): ProviderFlow<never> | undefined {
  return (ctx as KernelContext).compiled.flows.get(provider.type)
}

function lastAccountError(by: string): LastAccount {
  return new LastAccount(`${by}: this is the last account of the user, who could not sign in again. Pass { last: true } to allow it.`)
}
