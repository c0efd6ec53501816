/** What a configured provider needs beside ceremonies, in one place to import on demand: its checks, its form, and the passkeys of a user. */
import type { AccountKey, AdapterUser, Context } from 'authkernel/kernel'

export { loadWebAuthnLibrary } from './library.ts'
export { formOf, validateProvider } from './settings.ts'

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

/**
 * Takes the passkeys of `user` away, whose address is not proved: the visitor who typed it first has them (GHSA-g38m-r43w-p2q7). False when there are none.
 */
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
