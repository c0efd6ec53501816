/** Signs in as a test user or as a user of the store, through all steps that follow a sign-in: the hook `login`, a second factor, events. */
import { type AdapterUser, type Context, HttpError, type Login, type User } from 'authkernel/kernel'
import type { ResolvedDevOptions } from './options.ts'

/** `user` of the form: an email of the test users, or `id:` and the id of a stored user. */
export async function signInAs(ctx: Context, user: string, { users }: ResolvedDevOptions): Promise<Response> {
  const test = users.find(({ email }) => email === user)
  const found = test ? await findOrMake(ctx, test) : user.startsWith('id:') ? await ctx.store?.getUser(user.slice(3)) : undefined
  if (!found) throw new HttpError(404, 'The development panel has no such user.')
  const login: Login = {
    user: found,
    account: { provider: 'dev', providerAccountId: found.id ?? '', type: 'credentials' },
    isNewUser: false,
    trigger: 'signIn',
    session: 'new',
    purpose: 'signIn',
    passed: [],
    proof: { amr: [], factors: 1 },
    person: ctx.store ? `user:${found.id ?? ''}` : `account:dev:${found.id ?? ''}`,
    previous: await ctx.session.user(ctx),
    match: 'none',
    callbackUrl: `${ctx.origin}/`,
  }
  return ctx.resume(login)
}

async function findOrMake(ctx: Context, { email, name, verified }: ResolvedDevOptions['users'][number]): Promise<User | AdapterUser> {
  if (!ctx.store) return { id: `dev:${email}`, email, name }
  return (await ctx.store.getUserByEmail(email)) ?? ctx.users.create({ email, name, image: null, emailVerified: verified ? ctx.now : null })
}
