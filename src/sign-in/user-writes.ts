/** `ctx.users`: writes of users that tell the events of a sign-in, so that mails, audit and webhooks hear of them. */
import type { AdapterMethod, AdapterUser, Store } from '../contract/adapter.ts'
import type { AnyContext, UserWrites } from '../contract/context.ts'
import { AuthError, HttpError } from '../errors/index.ts'
import { randomUUID } from '../keys/crypto.ts'
import { writeAddress } from './address-queue.ts'

/** The writes of a request or a job. They go to its tenant. */
export function createUserWrites(ctx: AnyContext): UserWrites {
  return {
    async create(given) {
      const store = storeWith(ctx, 'create', 'createUser')
      const id = given.id ?? randomUUID(ctx.runtime)
      const user = await writeUser(ctx, 'create', store, { ...given, id }, async () => store.createUser({ ...given, id } as AdapterUser))
      await ctx.emit('createUser', { user })
      return user
    },
    async update(change) {
      const store = storeWith(ctx, 'update', 'updateUser')
      const user = await writeUser(ctx, 'update', store, change, async () => store.updateUser(change))
      await ctx.emit('updateUser', { user })
      return user
    },
  }
}

/** An address is written by one request at a time. Throws HttpError 409 for one that another user has. */
async function writeUser(
  ctx: AnyContext,
  call: keyof UserWrites,
  store: Store,
  { id, email }: { id: string; email?: string | null | undefined },
  write: () => Promise<AdapterUser>,
): Promise<AdapterUser> {
  if (!email || !store.supports('getUserByEmail')) return write()
  const user = await writeAddress(ctx, email, id, write)
  if (!user) throw new HttpError(409, `ctx.users.${call}: another user has this address.`)
  return user
}

function storeWith(ctx: AnyContext, call: keyof UserWrites, method: AdapterMethod): NonNullable<AnyContext['store']> {
  const { store } = ctx
  if (!store?.supports(method))
    throw new AuthError(
      `ctx.users.${call} needs an adapter with ${method}. Add one with adapterPlugin(), or add the requirement "store:${method}" to the plugin.`,
    )
  return store
}
