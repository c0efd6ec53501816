/** Passkeys of a user whose address nobody has proven: whoever typed it first has them (GHSA-g38m-r43w-p2q7). */
import type { AccountKey, AdapterUser, Context } from 'authkernel/kernel'

/** Whether `user` has passkeys. */
export async function hasPasskeys(ctx: Context, user: AdapterUser): Promise<boolean> {
  const store = ctx.service('store')
  return store.supports('listAuthenticatorsByUserId') && (await store.listAuthenticatorsByUserId(user.id)).length > 0
}

/** Deletes the passkey of an account that was unlinked: without its account it would still sign in. */
export async function deletePasskey(ctx: Context, { providerAccountId }: AccountKey, userId: string): Promise<void> {
  const store = ctx.service('store')
  if (!store.supports('listAuthenticatorsByUserId') || !store.supports('deleteAuthenticator')) return
  for (const one of await store.listAuthenticatorsByUserId(userId))
    if (one.providerAccountId === providerAccountId) await store.deleteAuthenticator(one.credentialID)
}

/** Takes the passkeys of `user` away; false when there are none. */
export async function revokeUnverified(ctx: Context, user: AdapterUser): Promise<boolean> {
  const store = ctx.service('store')
  if (!store.supports('listAuthenticatorsByUserId')) return false
  const authenticators = await store.listAuthenticatorsByUserId(user.id)
  const providers = [...ctx.app.providers.values()].filter(({ type }) => type === 'webauthn').map(({ id }) => id)
  for (const { credentialID, providerAccountId } of authenticators) {
    for (const provider of store.supports('unlinkAccount') ? providers : []) {
      const account = await store.getAccount(providerAccountId, provider)
      if (account?.userId === user.id) await store.unlinkAccount({ provider, providerAccountId })
    }
    if (store.supports('deleteAuthenticator')) await store.deleteAuthenticator(credentialID)
  }
  return authenticators.length > 0
}
