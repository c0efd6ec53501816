/** Sign-in by a magic link. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { acme, ann, mail } from './_hosts.ts'
import { signIn } from './_flows-oauth.ts'

type Options = Record<string, unknown>
type Rows = Parameters<Kit['adapter']>[0]

const user = { ...ann, emailVerified: null }
const verified = { ...ann, emailVerified: new Date('2025-05-05T05:05:05Z') }
const bob = { id: 'bob', name: 'Bob', email: 'bob@example.com', image: null, emailVerified: null }
const email = ann.email

interface Case {
  name: string
  rows?: Rows
  over?: Options | ((kit: Kit) => Options)
  more?: (kit: Kit) => Options
  run: (browser: Browser, kit: Kit, links: string[]) => Promise<void>
  decided?: Flow['decided']
}

function flows(strategies: string[], ...cases: Case[]): Flow[] {
  return cases.flatMap(({ name, rows, over = {}, more, run, decided }) =>
    strategies.map((strategy): Flow => {
      const links: string[] = []
      return {
        name: `${strategy}: ${name}`,
        ...(decided && { decided }),
        config: (kit) => {
          links.length = 0
          return {
            providers: [mail(kit, links, typeof over === 'function' ? over(kit) : over), acme(kit)],
            adapter: kit.adapter(rows),
            session: { strategy },
            callbacks: kit.watch('signIn', 'jwt', 'redirect'),
            ...more?.(kit),
          }
        },
        run: (b, kit) => run(b, kit, links),
      }
    }),
  )
}

const ask = (b: Browser, address: string = email, options = {}): Promise<unknown> =>
  b.post('/signin/mail', { email: address, callbackUrl: '/app' }, options)
const click = (b: Browser, links: string[], change = (url: string): string => url): Promise<unknown> =>
  b.get(change(links.at(-1) ?? '/callback/mail'))
const whole: Case['run'] = async (b, _kit, links) => {
  await ask(b)
  await click(b, links)
  await b.get('/session')
}
const down = (): never => {
  throw new Error('host: the store is down')
}

// Not at once: Auth.js awaits a hash before it looks at the promise, and Node ends processes for less.
const refuseLater = (): Promise<never> => new Promise((_resolve, reject) => setTimeout(reject, 30, new Error('host: no mail')))

export const emailFlows: Flow[] = [
  ...flows(
    ['jwt', 'database'],
    { name: 'a new person', run: whole },
    { name: 'a known person', rows: { users: [user] }, run: whole },
    {
      name: 'a person who did it before',
      rows: { users: [verified] },
      run: whole,
      // emailVerified is the date of the first time: nothing is written, nothing told.
      decided: { 2: { hook: 'D16', ours: { answer: { status: 302, location: { url: 'http://localhost:3000/app' } } } } },
    },
    { name: 'pages.newUser', run: whole, more: () => ({ pages: { newUser: '/welcome' } }) },
    {
      name: 'pages.verifyRequest',
      run: async (b, kit, links) => {
        await whole(b, kit, links)
        await b.get('/verify-request?provider=mail&type=email')
      },
      more: () => ({ pages: { verifyRequest: '/look' } }),
    },
    {
      name: 'the verify-request page',
      run: async (b) => {
        await ask(b)
        await b.get(b.next)
      },
    },
    {
      name: 'the link twice',
      run: async (b, _kit, links) => {
        await ask(b)
        await click(b, links)
        await click(b, links)
      },
    },
    {
      name: 'the link after an hour and a second',
      run: async (b, kit, links) => {
        await ask(b)
        kit.wait(3601)
        await click(b, links)
        await click(b, links)
      },
    },
    {
      name: 'the link just in time',
      run: async (b, kit, links) => {
        await ask(b)
        kit.wait(3599)
        await click(b, links)
      },
    },
    {
      name: 'another token',
      run: async (b, _kit, links) => {
        await ask(b)
        await click(b, links, (url) => url.replace(/token=[^&]*/, `token=${'0'.repeat(64)}`))
      },
    },
    {
      name: 'another address',
      run: async (b, _kit, links) => {
        await ask(b)
        await click(b, links, (url) => url.replace(/email=[^&]*/, 'email=eve%40example.com'))
      },
    },
    {
      name: 'no token',
      run: async (b, _kit, links) => {
        await ask(b)
        await click(b, links, (url) => url.replace(/token=[^&]*&?/, ''))
      },
    },
    {
      name: 'another browser',
      run: async (b, _kit, links) => {
        await ask(b)
        b.cookies.clear()
        await click(b, links)
        await b.get('/session')
      },
    },
    {
      name: 'signed in as the same person',
      rows: { users: [user], accounts: [{ provider: 'acme', providerAccountId: 'sub-1', type: 'oidc', userId: 'ann' }] },
      run: async (b, kit, links) => {
        await signIn(b, kit, 'acme')
        await whole(b, kit, links)
      },
    },
    {
      name: 'signed in as another person',
      rows: { users: [user, bob], accounts: [{ provider: 'acme', providerAccountId: 'sub-1', type: 'oidc', userId: 'bob' }] },
      run: async (b, kit, links) => {
        await signIn(b, kit, 'acme')
        await whole(b, kit, links)
      },
    },
    {
      name: 'return-redirect',
      run: async (b, _kit, links) => {
        const headers = { 'x-auth-return-redirect': '1' }
        await ask(b, email, { headers })
        await b.get(links[0] ?? '', { headers })
        await b.get('/callback/mail?token=x&email=a%40b.example', { headers })
      },
    },
    { name: 'without listeners and callbacks', run: whole, more: () => ({ callbacks: {} }) },
  ),
  ...flows(
    ['database'],
    ...[
      'Ann@Example.COM',
      '  ann@example.com ',
      'ann@example.com,eve@example.com',
      'ann',
      'a@b@c',
      '"ann"@example.com',
      '',
      '@example.com',
      'ann@',
      '\uFF41nn@example.com',
    ].map((address): Case => ({ name: `the address ${JSON.stringify(address)}`, run: async (b) => void (await ask(b, address)) })),
    { name: 'no address', run: async (b) => void (await b.post('/signin/mail')) },
    { name: 'a normalizer of the host', over: { normalizeIdentifier: (address: string) => `x-${address}` }, run: whole },
    {
      name: 'a normalizer that throws',
      over: {
        normalizeIdentifier: () => {
          throw new Error('host: not this one')
        },
      },
      run: whole,
    },
    { name: 'a token of the host', over: { generateVerificationToken: () => 'a-token-of-my-own-that-is-long' }, run: whole },
    { name: 'a token of the host, later', over: { generateVerificationToken: async () => 'a-token-of-my-own-that-is-long' }, run: whole },
    { name: 'a secret of the provider', over: { secret: 'another secret of the provider' }, run: whole },
    { name: 'maxAge', over: { maxAge: 60 }, run: whole },
    { name: 'the mail cannot be sent', over: { sendVerificationRequest: refuseLater }, run: async (b) => void (await ask(b)) },
    { name: 'a theme', more: () => ({ theme: { colorScheme: 'dark', brandColor: '#123456' } }), run: whole },
    { name: 'https', run: whole },
    ...['getUserByEmail', 'createVerificationToken', 'useVerificationToken', 'createUser', 'updateUser', 'createSession'].map(
      (method): Case => ({
        name: `${method} fails`,
        rows: { ...(method === 'updateUser' && { users: [user] }), replace: { [method]: down } },
        run: method === 'createVerificationToken' ? async (b) => void (await ask(b)) : whole,
      }),
    ),
    {
      name: 'an adapter that looks by the token alone',
      rows: {
        replace: {
          useVerificationToken: ({ token }: Options) => ({ identifier: 'eve@example.com', token, expires: new Date('2027-01-01') }),
        } as never,
      },
      run: whole,
    },
    ...(['Error', 'false', 'path', 'foreign', 'AccessDenied', 'CredentialsSignin'] as const).flatMap((what) =>
      ['asking', 'clicking'].map((when): Case => ({
        name: `signIn answers ${what} when ${when}`,
        run: what === 'false' ? async (b) => void (await ask(b)) : whole,
        more: (kit) => ({
          callbacks: kit.watch(
            { signIn: (message: { email?: unknown }) => (Boolean(message.email) === (when === 'asking') ? verdict(kit, what) : true) },
            'redirect',
          ),
        }),
        ...(when === 'asking' &&
          what === 'false' && {
            // An attacker does not learn from the answer who may sign in.
            decided: { 1: { hook: 'D17', ours: { answer: { location: { url: 'http://localhost:3000/auth/verify-request' } } } } },
          }),
      })),
    ),
  ),
]

function verdict(kit: Kit, what: string): unknown {
  const { AccessDenied, CredentialsSignin } = kit.errors
  if (what === 'Error') throw new Error('host: no')
  if (what === 'AccessDenied') throw new AccessDenied!('host: denied' as never)
  if (what === 'CredentialsSignin') throw new CredentialsSignin!()
  return what === 'path' ? '/denied' : what === 'foreign' ? 'https://evil.example' : false
}
