/** User names: ASCII, reserved names refused, and no look-alikes of existing ones. */
import {
  AccessDenied,
  type AnyContext,
  AuthError,
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  jobFor,
  type Kernel,
  type OfTenant,
  type Plugin,
  RecordConflict,
  redirectTo,
  type Row,
  type User,
} from 'authkernel/kernel'
import { messages } from './messages.ts'
import { type NameRefusal, type NameRules, resolveRules, toName, type UsernamesOptions } from './rules.ts'
import { skeletonOf } from './skeleton.ts'
import { nameTable, type UserNameRow } from './tables.ts'

export type { NameRefusal, UsernamesOptions } from './rules.ts'
export type { UserNameRow } from './tables.ts'

/** What the plugin puts on `auth`. `of` names the tenant where there are several. */
export interface UsernamesApi {
  usernames: {
    /** The name of a user; null: none. */
    get(user: { userId: string } & OfTenant): Promise<string | null>
    /** The id of the user who has a name; null: nobody, or no name. */
    find(name: string, options?: OfTenant): Promise<string | null>
    /** Gives a name, in place of a former one. Answers why not, or the name as it is stored. */
    set(user: { userId: string } & OfTenant, name: string): Promise<{ name: string } | { error: NameRefusal }>
  }
}
/** `client.usernames`, for the person who is signed in. Both reject with `AccessDenied` (403) for nobody. */
export type UsernamesClient = ClientPart<{
  readonly usernames: {
    /** The own name; null: none. */
    getName(): Promise<string | null>
    /** Gives a name, in place of a former one. Answers why not, or the name as it is stored. At most 20 tries an hour. */
    setName(input: { name: string }): Promise<{ name: string } | { error: NameRefusal }>
  }
}>
/** A service for plugins that sign people in by a name. */
export interface UserNames {
  /** The stored user who has a name; null: nobody. */
  find(ctx: AnyContext, typed: string): Promise<(User & { id: string }) | null>
}

declare module 'authkernel/kernel' {
  interface Services {
    userNames: UserNames
  }
}

/** Gives people names, and signs them in by them where passwords are kept. Needs an adapter and the service `records`. */
export function usernamesPlugin(options: UsernamesOptions = {}): Plugin<UsernamesApi & UsernamesClient> {
  const rules = resolveRules(options)
  return {
    name: 'usernames',
    requires: ['store', 'records', 'limit'],
    setup(kernel) {
      kernel.records('userName', nameTable)
      kernel.messages(messages)
      kernel.provide('userNames', {
        async find(ctx, typed) {
          const row = await byName(ctx, rules, typed)
          return row && ((await ctx.service('store').getUser(row.userId)) as (User & { id: string }) | null)
        },
      })
      addPages(kernel, rules)
      const contextOf = (tenant: OfTenant | undefined) => kernel.contextOf(jobFor('usernames', tenant))
      return {
        usernames: {
          get: async ({ userId, ...tenant }) => (await ownName(await contextOf(tenant), userId))?.name ?? null,
          find: async (name, tenant) => (await byName(await contextOf(tenant), rules, name))?.userId ?? null,
          async set({ userId, ...tenant }, name) {
            const ctx = await contextOf(tenant)
            if (!(await ctx.service('store').getUser(userId))) throw new AuthError('usernames.set: there is no such user.')
            return setName(ctx, rules, userId, name)
          },
        },
        ...addMethods(kernel, rules),
      }
    },
  }
}

function addMethods(kernel: Kernel, rules: NameRules): UsernamesClient {
  const signedIn = async (ctx: Context): Promise<string> => {
    const { id } = (await ctx.session.user(ctx)) ?? {}
    if (id === undefined) throw new AccessDenied('usernames: nobody is signed in.')
    return id
  }
  return clientMethods(kernel, 'usernames', {
    getName: clientMethod(async (ctx) => (await ownName(ctx, await signedIn(ctx)))?.name ?? null),
    setName: clientMethod(
      (sent) => ({ name: (Object(sent) as { name?: unknown }).name as string }),
      async (ctx, { name }) => tryName(ctx, rules, await signedIn(ctx), name),
    ),
  })
}

async function byName(ctx: AnyContext, rules: NameRules, typed: unknown): Promise<Row<UserNameRow> | null> {
  const found = toName(typed, rules)
  return 'error' in found ? null : ctx.records('userName').get({ name: found.name })
}

async function ownName(ctx: AnyContext, userId: string): Promise<Row<UserNameRow> | null> {
  return ctx.records('userName').get({ userId })
}

/** Two unique keys decide between many who want one name, or two that look alike. */
async function setName(
  ctx: AnyContext,
  rules: NameRules,
  userId: string,
  typed: unknown,
): Promise<{ name: string } | { error: NameRefusal }> {
  const found = toName(typed, rules)
  if ('error' in found) return found
  const { name } = found
  const names = ctx.records('userName')
  const own = await ownName(ctx, userId)
  const skeleton = skeletonOf(name)
  if (own?.name === name) return { name }
  try {
    if (own) await names.update(own.id, { name, skeleton, changed: ctx.now })
    else await names.create({ userId, name, skeleton, changed: ctx.now })
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
    return { error: 'UserNameTaken' }
  }
  return { name }
}

function addPages(kernel: Kernel, rules: NameRules): void {
  kernel.page(
    'userName',
    async (ctx, { say, form, field, submit, alert }, { error }) => {
      const { id } = (await ctx.session.user(ctx)) ?? {}
      if (id === undefined) return ctx.page('signIn')
      const name = (await ownName(ctx, id))?.name
      const input = field('username', {
        label: 'usernames.name',
        required: true,
        autocomplete: 'username',
        maxlength: 32,
        autocapitalize: 'none',
        spellcheck: 'false',
        ...(name !== undefined && { value: name }),
      })
      return {
        title: say('usernames.title'),
        lead: say(rules.unicode ? 'usernames.lead-unicode' : 'usernames.lead'),
        body: [alert(error), await form('/username', [input, submit(say('usernames.save'))])],
        ...(error !== undefined && { status: 400 }),
      }
    },
    { path: '/username' },
  )
  kernel.route({ method: 'POST', path: '/username', handler: (ctx) => save(ctx, rules) })
  kernel.accountSection({
    id: 'username',
    order: 110,
    async draw(ctx, { say, link, html }) {
      const { id } = (await ctx.session.user(ctx)) ?? {}
      if (id === undefined) return undefined
      const name = (await ownName(ctx, id))?.name
      const body = html`${name !== undefined && html`<p><bdi>${name}</bdi></p>`}${link(say('usernames.change'), '/username')}`
      return { heading: say('usernames.title'), body }
    },
  })
}

async function save(ctx: Context, rules: NameRules): Promise<Response> {
  const { id } = (await ctx.session.user(ctx)) ?? {}
  if (id === undefined) return ctx.page('signIn')
  const found = await tryName(ctx, rules, id, (await ctx.body())['username'])
  return 'error' in found ? ctx.render('userName', { error: found.error }) : redirectTo(`${ctx.base}/account`)
}

async function tryName(ctx: Context, rules: NameRules, id: string, name: unknown): Promise<{ name: string } | { error: NameRefusal }> {
  // Trying names tells which are taken: not many an hour.
  const { allowed } = await ctx.limit.take(`usernames ${id}`, { max: 20, seconds: 3600 })
  return allowed ? setName(ctx, rules, id, name) : { error: 'UserNameTaken' }
}
