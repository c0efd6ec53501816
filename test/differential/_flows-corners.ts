/** Corners that no table of the others reaches. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { acme, ann, everything, form, mail } from './_hosts.ts'

type Options = Record<string, unknown>

const user = { ...ann, emailVerified: null }
const cookie = 'authjs.session-token'
const sso = (kit: Kit, over: Options = {}): Options => ({
  providers: [acme(kit)],
  adapter: kit.adapter(),
  callbacks: kit.watch('signIn', 'redirect', 'session'),
  ...over,
})
const there = async (b: Browser, kit: Kit): Promise<void> => {
  await b.post('/signin/acme', { callbackUrl: '/app' })
  await b.get(kit.op.authorize(b.next))
  await b.get('/session')
}

export const cornerFlows: Flow[] = [
  {
    name: 'generateSessionToken',
    config: (kit) => sso(kit, { session: { generateSessionToken: () => 'a-token-of-the-host' } }),
    run: there,
  },
  {
    name: 'trustHost undefined',
    config: (kit) => sso(kit, { trustHost: undefined }),
    run: async (b) => {
      await b.get('/csrf')
      await b.get('/signin')
    },
    // Auth.js refuses the loopback host, which nothing needs to name here.
    decided: { 0: { hook: 'D34', ours: { answer: { status: 200 } } }, 1: { hook: 'D34', ours: { answer: { status: 200 } } } },
  },
  {
    name: 'a base path with a slash at its end',
    basePath: '/auth',
    config: (kit) => sso(kit, { basePath: '/auth/' }),
    run: async (b) => {
      await b.get('/csrf')
      await b.get('/session')
    },
  },
  {
    name: 'a sign-in as JSON',
    config: (kit) => sso(kit),
    run: async (b) => void (await b.send('POST', '/signin/acme', { json: { csrfToken: await b.csrfToken(), callbackUrl: '/app' } })),
  },
  {
    name: 'a sign-in by mail as JSON',
    config: everything,
    run: async (b) => void (await b.send('POST', '/signin/mail', { json: { csrfToken: await b.csrfToken(), email: 'ann@example.com' } })),
  },
  {
    name: 'a token that is a list',
    config: (kit) => ({ providers: [form(kit)] }),
    run: async (b) =>
      void (await b.send('POST', '/callback/credentials', { json: { csrfToken: [await b.csrfToken()], password: 'right' } })),
  },
  ...['/signin', '/signout', '/csrf'].map((path): Flow => ({
    name: `two callback URLs at ${path}`,
    config: everything,
    run: async (b) => void (await b.get(`${path}?callbackUrl=/a&callbackUrl=/b`)),
  })),
  {
    name: 'two callback URLs of a sign-out',
    config: everything,
    run: async (b) => void (await b.post('/signout?callbackUrl=/a&callbackUrl=/b')),
  },
  {
    name: 'two addresses on the sign-in page',
    config: everything,
    run: async (b) => void (await b.get('/signin?email=a%40x.example&email=b%40x.example')),
  },
  {
    name: 'two errors on the sign-in page',
    config: (kit) => everything(kit, { pages: { signIn: '/mine' } }),
    run: async (b) => void (await b.get('/signin?error=One&error=Two')),
  },
  {
    name: 'two CSRF cookies',
    config: everything,
    run: async (b) => {
      const csrfToken = await b.csrfToken()
      const own = b.cookies.get('authjs.csrf-token')
      await b.send('POST', '/signout', { form: { csrfToken }, headers: { cookie: `authjs.csrf-token=${own}; authjs.csrf-token=other` } })
      await b.send('POST', '/signout', { form: { csrfToken }, headers: { cookie: `authjs.csrf-token=other; authjs.csrf-token=${own}` } })
    },
  },
  {
    name: 'form_post answered by GET',
    config: (kit) => ({
      providers: [acme(kit, { authorization: { url: `${kit.op.issuer}/authorize`, params: { response_mode: 'form_post' } } })],
    }),
    run: async (b, kit) => {
      await b.post('/signin/acme')
      await b.get(kit.op.authorize(b.next))
    },
  },
  {
    name: 'a query answered by POST',
    config: (kit) => ({ providers: [acme(kit)] }),
    run: async (b, kit) => {
      await b.post('/signin/acme')
      const back = new URL(kit.op.authorize(b.next))
      await b.send('POST', back.origin + back.pathname, { form: Object.fromEntries(back.searchParams) })
    },
  },
  ...mails(),
  ...strangers(),
]

/** Links that are opened otherwise. */
function mails(): Flow[] {
  const links: string[] = []
  const config = (kit: Kit): Options => ({
    providers: [mail(kit, links)],
    adapter: kit.adapter(),
    callbacks: kit.watch('signIn', 'redirect'),
  })
  const ask = (b: Browser): Promise<unknown> => b.post('/signin/mail', { email: 'ann@example.com', callbackUrl: '/app' })
  return [
    {
      name: 'a link by POST, with a token',
      config,
      run: async (b) => {
        await ask(b)
        await b.post((links.at(-1) ?? '').replace(b.base, ''))
      },
    },
    {
      name: 'a link without an address',
      config,
      run: async (b) => {
        await ask(b)
        await b.get((links.at(-1) ?? '').replace(/&email=[^&]*/, ''))
      },
      // The person who opens a link says whose it is.
      decided: { 2: { hook: 'ROWS 222', ours: { answer: { location: { params: { error: 'Verification' } } } } } },
    },
    {
      name: 'a link with another callbackUrl',
      config,
      run: async (b) => {
        await ask(b)
        await b.get((links.at(-1) ?? '').replace(/callbackUrl=[^&]*/, 'callbackUrl=https%3A%2F%2Fevil.example'))
      },
    },
    {
      name: 'a link without a callbackUrl',
      config,
      run: async (b) => {
        await ask(b)
        await b.get((links.at(-1) ?? '').replace(/callbackUrl=[^&]*&/, ''))
      },
    },
    {
      name: 'two links, the first is opened',
      config,
      run: async (b) => {
        await ask(b)
        await ask(b)
        await b.get(links.at(-2) ?? '')
      },
    },
  ]
}

/** Session cookies that belong to no session, during other things. */
function strangers(): Flow[] {
  const database = (kit: Kit): Options => sso(kit, { adapter: kit.adapter({ users: [user] }), session: { strategy: 'database' } })
  const tokens = (kit: Kit): Options => sso(kit, { session: { strategy: 'jwt' } })
  return [
    {
      name: 'database: an unknown session signs out',
      config: database,
      run: async (b) => {
        b.cookies.set(cookie, 'nobody')
        await b.post('/signout')
      },
    },
    {
      name: 'database: an unknown session signs in',
      config: database,
      run: async (b, kit) => {
        b.cookies.set(cookie, 'nobody')
        kit.op.options = { claims: { email: 'new@example.com' } }
        await there(b, kit)
      },
    },
    {
      name: 'database: an unknown session is updated',
      config: database,
      run: async (b) => {
        b.cookies.set(cookie, 'nobody')
        await b.post('/session', { data: 'x' })
      },
    },
    {
      name: 'jwt: garbage signs in',
      config: tokens,
      run: async (b, kit) => {
        b.cookies.set(cookie, 'garbage')
        await there(b, kit)
      },
    },
    {
      name: 'jwt: garbage is updated',
      config: tokens,
      run: async (b) => {
        b.cookies.set(cookie, 'garbage')
        await b.post('/session', { data: 'x' })
      },
    },
    {
      name: 'jwt: a user who is gone signs in',
      config: tokens,
      run: async (b, kit) => {
        b.cookies.set(cookie, await kit.token({ sub: 'gone', name: 'Gone' }))
        await there(b, kit)
      },
    },
    { name: 'jwt: update while signed out', config: tokens, run: async (b) => void (await b.post('/session', { data: 'x' })) },
  ]
}
