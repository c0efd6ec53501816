/** `ctx.users`: writes of users that tell the events of a sign-in, so that mails, audit and webhooks hear of them. */
import type { AdapterMethod, AdapterUser } from '../contract/adapter.ts'
import type { AnyContext, UserWrites } from '../contract/context.ts'
import { AuthError } from '../errors/index.ts'
import { randomUUID } from '../keys/crypto.ts'

/** The writes of a request or a job. They go to its tenant. */
export function createUserWrites(ctx: AnyContext): UserWrites {
  return {
    async create(given) {
      const user = await storeWith(ctx, 'create', 'createUser').createUser({
        ...given,
        id: given.id ?? randomUUID(ctx.runtime),
      } as AdapterUser)
      await ctx.emit('createUser', { user })
      return user
    },
    async update(change) {
      const user = await storeWith(ctx, 'update', 'updateUser').updateUser(change)
      await ctx.emit('updateUser', { user })
      return user
    },
  }
}

function storeWith(ctx: AnyContext, call: keyof UserWrites, method: AdapterMethod): NonNullable<AnyContext['store']> {
  const { store } = ctx
  if (!store?.supports(method))
    throw new AuthError(
      `ctx.users.${call} needs an adapter with ${method}. Add one with adapterPlugin(), or add the requirement "store:${method}" to the plugin.`,
    )
  return store
}
