/** Passkeys of a user whose address nobody has proven: whoever typed it first has them (GHSA-g38m-r43w-p2q7). */
import type { AdapterUser, Context } from 'authkernel/kernel'

/** Whether `user` has passkeys. */
export async function hasPasskeys(ctx: Context, user: AdapterUser): Promise<boolean> {
  const store = ctx.service('store')
  return store.supports('listAuthenticatorsByUserId') && (await store.listAuthenticatorsByUserId(user.id)).length > 0
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
