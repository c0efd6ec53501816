/** What plugins ask before they add something that signs people in, or lasts, to a user. */
import type { AnyContext } from '../contract/context.ts'
import type { KernelContext } from '../registry/snapshot.ts'

/**
 * Whether the user was made by what any visitor gets for a typed address, such as a passkey, and nobody proved the address where that can be done. Whoever proves it gets the
 * user: nothing is added to it before.
 */
export async function hasTypedAddress(ctx: AnyContext, userId: string): Promise<boolean> {
  const { store } = ctx
  if (!ctx.app.services.mailTransport || !store?.supports('listAccountsByUserId')) return false
  const stored = await store.getUser(userId)
  if (!stored?.email || stored.emailVerified) return false
  const accounts = await store.listAccountsByUserId(userId)
  return accounts.length > 0 && accounts.every(({ type }) => (ctx as KernelContext).compiled.flows.get(type)?.typed !== undefined)
}
