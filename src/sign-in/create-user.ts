/** Who may become a user: the hook `createUser`, asked by everything that makes one for a visitor. */
import type { AdapterUser, Store } from '../contract/adapter.ts'
import type { AnyContext } from '../contract/context.ts'
import type { User } from '../contract/data.ts'
import type { NewUser } from '../contract/messages.ts'
import { AccessDenied, AuthError } from '../errors/index.ts'

/**
 * Asks whether there may be a user, before anything is sent or stored for it: a magic link, a code, a registration. Nothing is used up. False also where a handler throws an AuthError below 500. Respond as if a mail was sent, so that the visitor does not learn which addresses may sign up.
 */
export async function mayCreateUser(ctx: AnyContext, wanted: NewUser): Promise<boolean> {
  if (!ctx.has('hook', 'createUser')) return true
  try {
    return (await ctx.ask('createUser', { ...wanted, final: false, whenDone: () => {} })) === true
  } catch (error) {
    if (error instanceof AuthError && error.status < 500) return false
    throw error
  }
}

/**
 * Asks for good, runs `write`, and tells the handlers what became of it. `pickUser` picks the new user from the answer of `write`; null: none was made.
 * Throws AccessDenied for a rejection, and what `write` throws.
 */
export async function writeNewUser<T>(
  ctx: AnyContext,
  wanted: NewUser,
  write: () => Promise<T>,
  pickUser: (answer: T) => User | null,
): Promise<T> {
  if (!ctx.has('hook', 'createUser')) return write()
  const listeners: ((user: User | null) => unknown)[] = []
  let user: User | null = null
  try {
    const verdict = await ctx.ask('createUser', { ...wanted, final: true, whenDone: (listener) => void listeners.push(listener) })
    if (verdict !== true)
      throw new AccessDenied('A handler of the hook `createUser` rejected a new user.', { cause: { provider: wanted.account.provider } })
    const answer = await write()
    user = pickUser(answer)
    return answer
  } finally {
    for (const listener of listeners) await runListener(ctx, () => listener(user))
  }
}

/** Stores a user that has no account: a guest. Asks the hook first. */
export async function storeNewUser(ctx: AnyContext, store: Store, user: AdapterUser, account: NewUser['account']): Promise<AdapterUser> {
  return writeNewUser(
    ctx,
    { user, account, proved: false },
    async () => store.createUser(user),
    (stored) => stored,
  )
}

// The user is there, or is not: a failure here changes nothing of it.
async function runListener(ctx: AnyContext, listen: () => unknown): Promise<void> {
  try {
    await listen()
  } catch (error) {
    ctx.logger.error(error instanceof Error ? error : new Error(String(error)))
  }
}
