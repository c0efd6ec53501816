/** A refused sign-in leaves no account behind that it linked to a user who was there before. */
import type { Login } from '../contract/login.ts'
import type { KernelContext } from '../registry/snapshot.ts'

/** Does `work`; when it throws, the account of the login is unlinked again. A failure of that is logged. */
export async function orUndoLink<T>(ctx: KernelContext, login: Login, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (login.linked) await undo(ctx, login).catch((failure: unknown) => ctx.logger.error(failure as Error))
    throw error
  }
}

async function undo({ store }: KernelContext, { account, user: { id } }: Login): Promise<void> {
  const { provider, providerAccountId, type } = account
  if (!store?.supports('unlinkAccount') || id === undefined) return
  await store.unlinkAccount({ provider, providerAccountId })
  // A passkey without its account would still sign in.
  if (type !== 'webauthn' || !store.supports('listAuthenticatorsByUserId') || !store.supports('deleteAuthenticator')) return
  for (const one of await store.listAuthenticatorsByUserId(id))
    if (one.providerAccountId === providerAccountId) await store.deleteAuthenticator(one.credentialID)
}
