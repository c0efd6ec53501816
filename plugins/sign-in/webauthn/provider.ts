/** What a configured provider needs beside ceremonies, in one place to import on demand: its checks, its form, and the passkeys of a user. */
import type { AccountKey, AdapterAccount, AdapterUser, Context } from 'authkernel/kernel'
import { dropRecord } from './handles.ts'
import { forgetPasskey } from './passkeys.ts'

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
  for (const row of await store.listAuthenticatorsByUserId(userId))
    if (row.providerAccountId === providerAccountId) await forgetPasskey(ctx, row)
}

/** Whether the passkey of an account is still there: without it the account opens nothing. */
export async function opensAccount(ctx: Context, user: AdapterUser, account: AdapterAccount | undefined): Promise<boolean> {
  const store = ctx.service('store')
  if (!account) return false
  if (!store.supports('listAuthenticatorsByUserId')) return true
  return (await store.listAuthenticatorsByUserId(user.id)).some((row) => row.providerAccountId === account.providerAccountId)
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
    await dropRecord(ctx, credentialID)
  }
  return authenticators.length > 0
}
