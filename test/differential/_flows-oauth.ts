/** Sign-in at providers: every strategy with every kind of person, checks, answers of the host's callbacks, and stores that fail. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { acme, ann, hub } from './_hosts.ts'

type Options = Record<string, unknown>
type Setup = (kit: Kit) => Options

/** Out to the provider and back. */
export async function signIn(browser: Browser, kit: Kit, id: string, query: Record<string, string> = {}): Promise<void> {
  await browser.post(`/signin/${id}`, { callbackUrl: '/app' }, { query })
  await browser.get(kit.op.authorize(browser.next))
}

const providers: Record<string, (kit: Kit, over?: Options) => Options> = { acme, hub }
const asked = ['signIn', 'jwt', 'redirect', 'session']
const user = { ...ann, emailVerified: null }
const account = (provider: string, type: string, userId = 'ann'): Options => ({ provider, type, providerAccountId: 'sub-1', userId })
const bob = { id: 'bob', name: 'Bob', email: 'bob@example.com', image: null, emailVerified: null }

/** How sessions are kept; without a store there are tokens only. */
const keeping: Record<string, (kit: Kit, rows?: Parameters<Kit['adapter']>[0]) => Options> = {
  'no store': () => ({}),
  'jwt with a store': (kit, rows) => ({ adapter: kit.adapter(rows), session: { strategy: 'jwt' } }),
  database: (kit, rows) => ({ adapter: kit.adapter(rows) }),
}

function each(ids: string[], make: (id: string, type: string) => Flow[]): Flow[] {
  return ids.flatMap((id) => make(id, id === 'acme' ? 'oidc' : 'oauth'))
}

const one =
  (id: string, over: Options = {}): Setup =>
  (kit) => ({ providers: [providers[id]?.(kit, over)], callbacks: kit.watch(...asked) })

const people: Record<string, (type: string) => Parameters<Kit['adapter']>[0]> = {
  'a new person': () => ({}),
  'a known account': (type) => ({ users: [user], accounts: [account('acme', type), account('hub', type)] }),
  'user with the same address': () => ({ users: [user] }),
}

export const oauthFlows: Flow[] = [
  ...each(['acme', 'hub'], (id, type) => [
    ...Object.entries(keeping).flatMap(([how, keep]) =>
      Object.entries(people).flatMap(([who, rows]) =>
        ['plain', 'silent'].map((mode): Flow => ({
          name: `${id}, ${how}, ${who}, ${mode}`,
          config: (kit) => ({ ...one(id)(kit), ...(mode === 'silent' && { callbacks: {} }), ...keep(kit, rows(type)) }),
          run: async (b, kit) => {
            await signIn(b, kit, id)
            await b.get('/session')
            await signIn(b, kit, id)
            await b.get('/session')
            await b.post('/signout')
            await b.get('/session')
          },
        })),
      ),
    ),
    ...['jwt with a store', 'database'].flatMap((how) => [
      ...linking(id, type, how),
      {
        name: `${id}, ${how}, same address with allowDangerousEmailAccountLinking`,
        config: (kit: Kit) => ({ ...one(id, { allowDangerousEmailAccountLinking: true })(kit), ...keeping[how]?.(kit, { users: [user] }) }),
        run: async (b: Browser, kit: Kit) => signIn(b, kit, id),
      },
      ...['/welcome', '/welcome?a=b', 'http://localhost:3000/welcome'].map((newUser): Flow => ({
        name: `${id}, ${how}, pages.newUser ${newUser}`,
        config: (kit) => ({ ...one(id)(kit), ...keeping[how]?.(kit), pages: { newUser } }),
        run: async (b, kit) => {
          await signIn(b, kit, id)
          await b.post('/signout')
          await signIn(b, kit, id)
        },
      })),
    ]),
    ...verdicts(id),
    ...failures(id, type),
  ]),
]

/** A user is signed in already. */
function linking(id: string, type: string, how: string): Flow[] {
  const other = id === 'acme' ? 'hub' : 'acme'
  const both: Setup = (kit) => ({ providers: [acme(kit), hub(kit)], callbacks: kit.watch(...asked) })
  const flow = (name: string, rows: Parameters<Kit['adapter']>[0], between?: (kit: Kit) => void): Flow => ({
    name: `${id}, ${how}, signed in: ${name}`,
    config: (kit) => ({ ...both(kit), ...keeping[how]?.(kit, rows) }),
    run: async (b, kit) => {
      await signIn(b, kit, other)
      between?.(kit)
      await signIn(b, kit, id)
      await b.get('/session')
    },
  })
  const otherType = type === 'oidc' ? 'oauth' : 'oidc'
  return [
    flow('one more account', { users: [user], accounts: [account(other, otherType)] }),
    flow('the account is mine', { users: [user], accounts: [account(other, otherType), account(id, type)] }),
    flow('the account belongs to another user', { users: [user, bob], accounts: [account(other, otherType), account(id, type, 'bob')] }),
    flow('one more account with the address of another', { users: [user, bob], accounts: [account(other, otherType)] }, ({ op }) => {
      op.options = { claims: { email: 'bob@example.com', sub: 'sub-2' } }
    }),
  ]
}

/** What callbacks may answer. */
function verdicts(id: string): Flow[] {
  const flow = (name: string, how: string, callbacks: (kit: Kit) => Options, over: Options = {}): Flow => ({
    name: `${id}, ${how}, ${name}`,
    config: (kit) => ({ ...one(id)(kit), ...keeping[how]?.(kit), callbacks: callbacks(kit), ...over }),
    run: async (b, kit) => {
      await signIn(b, kit, id)
      await b.get('/session')
    },
  })
  const answers: Record<string, (kit: Kit) => unknown> = {
    false: () => false,
    nothing: () => undefined,
    'a path': () => '/denied',
    'a URL of the own origin': () => 'http://localhost:3000/denied?a=b',
    'a foreign URL': () => 'https://evil.example/x',
    'an error': () => {
      throw new Error('host: no')
    },
    CredentialsSignin: ({ errors: { CredentialsSignin } }) => {
      throw new CredentialsSignin!()
    },
    AccessDenied: ({ errors: { AccessDenied } }) => {
      throw new AccessDenied!('host: denied' as never)
    },
    OAuthAccountNotLinked: ({ errors: { OAuthAccountNotLinked } }) => {
      throw new OAuthAccountNotLinked!('host: not linked' as never)
    },
  }
  return [
    ...Object.entries(answers).flatMap(([what, answer]) =>
      ['no store', 'database'].map((how) =>
        flow(`signIn answers ${what}`, how, (kit) => kit.watch({ signIn: () => answer(kit) }, 'redirect')),
      ),
    ),
    flow('jwt answers null', 'no store', (kit) => kit.watch({ jwt: () => null })),
    flow('jwt adds a claim', 'no store', (kit) =>
      kit.watch({ jwt: ({ token }: { token: object }) => ({ ...token, role: 'admin' }) }, 'session'),
    ),
    flow('jwt changes the token in place', 'jwt with a store', (kit) =>
      kit.watch({ jwt: ({ token }: { token: Options }) => Object.assign(token, { role: 'admin' }) }),
    ),
    flow('jwt throws', 'no store', (kit) => kit.watch({ jwt: () => Promise.reject(new Error('host: no token')) })),
    flow('a large token', 'no store', (kit) =>
      kit.watch({ jwt: ({ token }: { token: Options }) => ({ ...token, large: 'x'.repeat(5000) }) }),
    ),
    flow('redirect leads away', 'database', (kit) => kit.watch({ redirect: () => 'https://other.example/here' })),
    flow('redirect answers a path', 'no store', (kit) => kit.watch({ redirect: () => '/there' })),
  ]
}

/** Stores and listeners that fail. */
function failures(id: string, type: string): Flow[] {
  const methods = ['getUserByAccount', 'getUserByEmail', 'createUser', 'linkAccount', 'createSession', 'getSessionAndUser']
  const down = (): never => {
    throw new Error('host: the store is down')
  }
  return [
    ...methods.map((method): Flow => ({
      name: `${id}, database, ${method} fails`,
      config: (kit) => ({ ...one(id)(kit), ...keeping['database']?.(kit, { replace: { [method]: down } }) }),
      run: async (b, kit) => {
        await signIn(b, kit, id)
        await b.get('/session')
      },
    })),
    ...['createUser', 'linkAccount', 'signIn'].map((event): Flow => ({
      name: `${id}, database, a listener of ${event} fails`,
      config: (kit) => ({
        ...one(id)(kit),
        ...keeping['database']?.(kit),
        events: { [event]: () => Promise.reject(new Error('host: no')) },
      }),
      run: async (b, kit) => signIn(b, kit, id),
    })),
    ...[{}, { signIn: '/login' }, { error: '/oops' }, { signIn: '/login?a=b', error: '/oops?a=b' }].map((pages, i): Flow => ({
      name: `${id}, database, not linked, with pages ${i}`,
      config: (kit) => ({ ...one(id)(kit), ...keeping['database']?.(kit, { users: [user] }), pages }),
      run: async (b, kit) => {
        await signIn(b, kit, id)
        await b.get(b.next)
      },
    })),
    ...['sign-in', 'callback', 'failing callback'].map((what): Flow => ({
      name: `${id}, return-redirect on the ${what}`,
      config: (kit) => ({ ...one(id)(kit), ...keeping['database']?.(kit, { accounts: [account(id, type)], users: [user] }) }),
      run: async (b, kit) => {
        const headers = { 'x-auth-return-redirect': '1' }
        await b.post(`/signin/${id}`, { callbackUrl: '/app' }, what === 'sign-in' ? { headers } : {})
        const over = what === 'failing callback' ? { code: undefined, error: 'access_denied' } : {}
        await b.get(kit.op.authorize(b.next, over), what === 'sign-in' ? {} : { headers })
      },
    })),
  ]
}
