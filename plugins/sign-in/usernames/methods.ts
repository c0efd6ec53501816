/** `auth.usernames` for server code, and `client.usernames` for the user who is signed in. */
import {
  AccessDenied,
  AuthError,
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  jobFor,
  type Kernel,
  type OfTenant,
} from 'authkernel/kernel'
import { changeName, findByName, ownName, setName } from './names.ts'
import type { NameRules } from './options.ts'
import type { NameRefusal } from './rules.ts'

/** What the plugin puts on `auth`. `of` names the tenant where there are several. */
export interface UsernamesApi {
  usernames: {
    /** The name of a user; null: none. */
    get(user: { userId: string } & OfTenant): Promise<string | null>
    /** The id of the user who has a name; null: none, or no name. */
    find(name: string, options?: OfTenant): Promise<string | null>
    /** Gives a name, instead of a former one. Answers why not, or the name as it is stored. */
    set(user: { userId: string } & OfTenant, name: string): Promise<{ name: string } | { error: NameRefusal }>
  }
}
/** `client.usernames`, for the user who is signed in. Both reject with `AccessDenied` (403) when signed out. */
export type UsernamesClient = ClientPart<{
  readonly usernames: {
    /** The own name; null: none. */
    getName(): Promise<string | null>
    /** Gives a name, instead of a former one. Answers why not, or the name as it is stored. At most 20 tries an hour. */
    setName(input: { name: string }): Promise<{ name: string } | { error: NameRefusal }>
  }
}>

/** The API on `auth`. */
export function usernamesApi(kernel: Kernel, rules: NameRules): UsernamesApi['usernames'] {
  const contextOf = (tenant: OfTenant | undefined) => kernel.contextOf(jobFor('usernames', tenant))
  return {
    get: async ({ userId, ...tenant }) => (await ownName(await contextOf(tenant), userId))?.name ?? null,
    find: async (name, tenant) => (await findByName(await contextOf(tenant), rules, name))?.userId ?? null,
    async set({ userId, ...tenant }, name) {
      const ctx = await contextOf(tenant)
      if (!(await ctx.service('store').getUser(userId))) throw new AuthError('usernames.set: there is no such user.')
      return setName(ctx, rules, userId, name)
    },
  }
}

/** Adds the methods of the client. */
export function usernameMethods(kernel: Kernel, rules: NameRules): UsernamesClient {
  const requireUserId = async (ctx: Context): Promise<string> => {
    const { id } = (await ctx.session.user(ctx)) ?? {}
    if (id === undefined) throw new AccessDenied('usernames: no user is signed in.')
    return id
  }
  return clientMethods(kernel, 'usernames', {
    getName: clientMethod(async (ctx) => (await ownName(ctx, await requireUserId(ctx)))?.name ?? null),
    setName: clientMethod(
      (sent) => ({ name: (Object(sent) as { name?: unknown }).name as string }),
      async (ctx, { name }) => changeName(ctx, rules, await requireUserId(ctx), name),
    ),
  })
}
