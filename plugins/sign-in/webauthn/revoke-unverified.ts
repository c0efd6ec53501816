/** Passkeys of a user whose address nobody has proven: whoever typed it first has them (GHSA-g38m-r43w-p2q7). */
import type { AdapterUser, Context } from 'authkernel/kernel'

/**
 * Takes the passkeys of `user` away; false when there are none, or when the user has accounts of other types too: they were not made by typing
 * an address, and neither need the passkeys be. An adapter that cannot list accounts cannot tell.
 */
export async function revokeUnverified(ctx: Context, user: AdapterUser): Promise<boolean> {
  const store = ctx.service('store')
  if (!store.supports('listAuthenticatorsByUserId')) return false
  const authenticators = await store.listAuthenticatorsByUserId(user.id)
  if (authenticators.length === 0) return false
  const accounts = store.supports('listAccountsByUserId') ? await store.listAccountsByUserId(user.id) : []
  if (accounts.some(({ type }) => type !== 'webauthn')) return false
  if (!store.supports('unlinkAccount') && !store.supports('deleteAuthenticator')) ctx.logger.warn('webauthn-passkeys-stay')
  const providers = [...ctx.app.providers.values()].filter(({ type }) => type === 'webauthn').map(({ id }) => id)
  for (const { credentialID, providerAccountId } of authenticators) {
    for (const provider of store.supports('unlinkAccount') ? providers : []) {
      const account = await store.getAccount(providerAccountId, provider)
      if (account?.userId === user.id) await store.unlinkAccount({ provider, providerAccountId })
    }
    if (store.supports('deleteAuthenticator')) await store.deleteAuthenticator(credentialID)
  }
  return true
}
