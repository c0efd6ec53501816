/** A session for tests, without a provider and without a browser. */
import type { AdapterUser, Auth, Context, Login, User } from 'authkernel/kernel'

/** Where the app under test lives. */
export interface SignedInOptions {
  /** Default `http://localhost:3000`; https gives secure cookie names. */
  origin?: string
  /** Default: the configured one. */
  basePath?: string
}

let userCount = 0

/**
 * Signs a user in and answers the `Cookie` header of that browser. With a store the user is looked up by id or address, and created when new.
 * Throws what the session strategy throws.
 *
 * ```ts
 * const cookie = await signedIn(auth, { name: 'Ann', email: 'ann@example.com' })
 * const response = await fetch('http://localhost:3000/account', { headers: { cookie } })
 * ```
 */
export async function signedIn(
  auth: Auth,
  user: User,
  { origin = 'http://localhost:3000', basePath }: SignedInOptions = {},
): Promise<string> {
  const name = `signed-in-${userCount++}`
  let mount = basePath
  auth.use({
    name,
    setup(kernel) {
      mount ??= kernel.config.basePath
      kernel.route({ method: 'GET', path: `/${name}`, handler: (ctx) => issueSession(ctx, user) })
    },
  })
  try {
    const response = await auth.dispatch(new Request(`${origin}${mount}/${name}`))
    return response.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
  } finally {
    auth.remove(name)
  }
}

async function issueSession(ctx: Context, user: User): Promise<Response> {
  const owner = await findOrCreateUser(ctx, user)
  const account = { provider: 'testing', providerAccountId: owner.id ?? '', type: 'credentials' as const }
  const login: Login = {
    user: owner,
    account,
    isNewUser: false,
    trigger: 'signIn',
    session: 'new',
    purpose: 'signIn',
    passed: [],
    proof: { amr: [], factors: 1 },
    person: `user:${user.id ?? ''}`,
    previous: null,
    match: 'none',
    callbackUrl: ctx.origin,
  }
  const authTime = Math.floor(ctx.now.getTime() / 1000)
  await ctx.session.issue(ctx, login, { provider: 'testing', authTime, methods: {}, factors: 1, started: ctx.now.getTime() })
  return new Response(null, { status: 204 })
}

async function findOrCreateUser(ctx: Context, user: User): Promise<User> {
  const { store } = ctx
  if (!store) return user
  const known = (user.id && (await store.getUser(user.id))) || (user.email && (await store.getUserByEmail(user.email)))
  return known || store.createUser({ emailVerified: null, ...user, id: user.id ?? crypto.randomUUID() } as AdapterUser)
}
