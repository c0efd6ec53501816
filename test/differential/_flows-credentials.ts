/** Sign-in by a form that the host checks itself. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { ann, form } from './_hosts.ts'

type Options = Record<string, unknown>

const good = { username: 'ann', password: 'right' }
const at = '/callback/credentials'

function flow(
  name: string,
  over: Options | ((kit: Kit) => Options) = {},
  more: (kit: Kit) => Options = () => ({}),
  run?: Flow['run'],
): Flow {
  return {
    name,
    config: (kit) => ({
      providers: [form(kit, typeof over === 'function' ? over(kit) : over)],
      callbacks: kit.watch('signIn', 'jwt', 'redirect', 'session'),
      ...more(kit),
    }),
    run: run ?? whole,
  }
}
const whole = async (b: Browser): Promise<void> => {
  await b.post(at, { ...good, callbackUrl: '/app' })
  await b.get('/session')
  await b.post('/signout')
}
const answers: [string, (kit: Kit) => unknown][] = [
  ['null', () => null],
  ['undefined', () => undefined],
  ['false', () => false],
  ['a user without an id', () => ({ name: 'Ann' })],
  ['a numeric id', () => ({ id: 7, name: 'Seven' })],
  ['more fields', () => ({ ...ann, role: 'admin' })],
  ['an empty object', () => ({})],
  ['a text', () => 'ann'],
  [
    'CredentialsSignin',
    ({ errors: { CredentialsSignin } }) => {
      throw new CredentialsSignin!()
    },
  ],
  [
    'CredentialsSignin with a message',
    ({ errors: { CredentialsSignin } }) => {
      throw new CredentialsSignin!('host: wrong' as never)
    },
  ],
  [
    'CredentialsSignin with a code',
    ({ errors }) => {
      throw withCode(errors, 'locked out&x=1')
    },
  ],
  [
    'a subclass of CredentialsSignin',
    ({ errors }) => {
      throw new (subclass(errors))()
    },
  ],
  [
    'AuthError',
    ({ errors: { AuthError } }) => {
      throw new AuthError!('host: auth' as never)
    },
  ],
  [
    'AccessDenied',
    ({ errors: { AccessDenied } }) => {
      throw new AccessDenied!('host: denied' as never)
    },
  ],
  [
    'an error',
    () => {
      throw new Error('host: broken')
    },
  ],
  [
    'a thrown text',
    () => {
      throw 'host: text'
    },
  ],
  ['an error, later', () => Promise.reject(new Error('host: late'))],
]

export const credentialsFlows: Flow[] = [
  flow('the right password'),
  flow(
    'the wrong password',
    {},
    () => ({}),
    async (b) => {
      await b.post(at, { ...good, password: 'wrong' })
      await b.get(b.next)
      await b.get('/session')
    },
  ),
  flow('silent', {}, () => ({ callbacks: {} })),
  flow(
    'no body',
    {},
    () => ({}),
    async (b) => void (await b.post(at)),
  ),
  flow(
    'another id',
    { id: 'ldap' },
    () => ({}),
    async (b) => void (await b.post('/callback/ldap', good)),
  ),
  flow('options over the preset', (kit) => ({ authorize: () => null, options: { authorize: form(kit)['authorize'] } })),
  ...answers.flatMap(([name, answer]) => [
    flow(`authorize: ${name}`, (kit) => ({ authorize: async () => answer(kit) })),
    flow(
      `authorize: ${name}, return-redirect`,
      (kit) => ({ authorize: async () => answer(kit) }),
      () => ({}),
      async (b) => void (await b.post(at, good, { headers: { 'x-auth-return-redirect': '1' } })),
    ),
  ]),
  ...[{ signIn: '/login' }, { error: '/oops' }, { signIn: '/login?a=b' }, { newUser: '/welcome' }].flatMap((pages) => [
    flow(
      `pages ${JSON.stringify(pages)}, wrong`,
      {},
      () => ({ pages }),
      async (b) => void (await b.post(at, { ...good, password: 'wrong' })),
    ),
    flow(`pages ${JSON.stringify(pages)}, right`, {}, () => ({ pages })),
    flow(`pages ${JSON.stringify(pages)}, broken`, { authorize: () => Promise.reject(new Error('host: broken')) }, () => ({ pages })),
  ]),
  ...(['false', 'path', 'foreign', 'Error', 'AccessDenied', 'CredentialsSignin', 'undefined', 'empty'] as const).map((what) =>
    flow(`signIn answers ${what}`, {}, (kit) => ({ callbacks: kit.watch({ signIn: () => verdict(kit, what) }, 'redirect') })),
  ),
  {
    ...flow(
      'signIn answers a number',
      {},
      (kit) => ({ callbacks: kit.watch({ signIn: () => 1 }) }),
      async (b) => void (await b.post(at, good)),
    ),
    decided: { 1: { hook: 'SPEC States', ours: { answer: { location: { params: { error: 'AccessDenied' } } } } } },
  },
  flow('jwt answers null', {}, (kit) => ({ callbacks: kit.watch({ jwt: () => null }) })),
  flow('jwt throws', {}, (kit) => ({ callbacks: kit.watch({ jwt: () => Promise.reject(new Error('host: no')) }) })),
  flow('jwt throws an AuthError', {}, (kit) => ({
    callbacks: kit.watch({ jwt: () => Promise.reject(new kit.errors['AccessDenied']!('host: no' as never)) }),
  })),
  flow(
    'redirect throws',
    {},
    (kit) => ({ callbacks: kit.watch({ redirect: () => Promise.reject(new Error('host: no')) }) }),
    async (b) => void (await b.post(at, { ...good, callbackUrl: '/app' })),
  ),
  flow('a listener fails', {}, () => ({ events: { signIn: () => Promise.reject(new Error('host: no')) } })),
  flow('with a store and jwt', {}, (kit) => ({ adapter: kit.adapter(), session: { strategy: 'jwt' } })),
  flow(
    'signed in before',
    {},
    () => ({}),
    async (b) => {
      await whole(b)
      await b.post(at, good)
      await b.post(at, good)
      await b.get('/session')
    },
  ),
  flow(
    'without a token',
    {},
    () => ({}),
    async (b) => void (await b.send('POST', at, { form: good })),
  ),
  flow(
    'with the token of another browser',
    {},
    () => ({}),
    async (b) => {
      const csrfToken = await b.csrfToken()
      b.cookies.clear()
      await b.send('POST', at, { form: { ...good, csrfToken } })
    },
  ),
  flow(
    'skipCSRFCheck',
    {},
    (kit) => ({ skipCSRFCheck: kit.symbols.skipCSRFCheck }),
    async (b) => {
      await b.get('/csrf')
      await b.send('POST', at, { form: { ...good, callbackUrl: '/app' } })
      await b.get('/session')
      await b.send('POST', '/signout', { form: {} })
      await b.get('/signin')
      await b.get('/signout')
    },
  ),
  flow(
    'skipCSRFCheck of another value',
    {},
    () => ({ skipCSRFCheck: true }),
    async (b) => {
      await b.get('/csrf')
      await b.send('POST', at, { form: good })
    },
  ),
  { ...flow('https'), origin: 'https://app.example' },
  { ...flow('https, useSecureCookies false', {}, () => ({ useSecureCookies: false })), origin: 'https://app.example' },
  { ...flow('a base path'), basePath: '/api/auth' },
  flow('a provider as a function', {}, (kit) => ({ providers: [() => form(kit)] })),
  flow('secrets as a list', {}, () => ({
    secret: ['a-new-secret-of-more-than-32-characters', 'an-old-secret-of-more-than-32-characters'],
  })),
  ...['https://evil.example/x', '//evil.example', '/app?a=b&c=d', 'http://localhost:3000/app', ''].map((callbackUrl) =>
    flow(
      `callbackUrl ${callbackUrl || 'empty'}`,
      {},
      () => ({}),
      async (b) => void (await b.post(at, { ...good, callbackUrl })),
    ),
  ),
  {
    ...flow(
      'callbackUrl with a backslash',
      {},
      () => ({}),
      async (b) => void (await b.post(at, { ...good, callbackUrl: '/\\evil.example' })),
    ),
    decided: { 1: { hook: 'D57', ours: { answer: { location: { url: 'http://localhost:3000' } } } } },
  },
  flow(
    'callbackUrl of the query',
    {},
    () => ({}),
    async (b) => {
      await b.post(`${at}?callbackUrl=/query`, good)
      await b.post(`${at}?callbackUrl=/query`, { ...good, callbackUrl: '/body' })
    },
  ),
]

function verdict(kit: Kit, what: string): unknown {
  const { AccessDenied, CredentialsSignin } = kit.errors
  if (what === 'Error') throw new Error('host: no')
  if (what === 'AccessDenied') throw new AccessDenied!('host: denied' as never)
  if (what === 'CredentialsSignin') throw new CredentialsSignin!()
  const others: Record<string, unknown> = { path: '/denied?a=b', foreign: 'https://evil.example/x', false: false, empty: '' }
  return others[what]
}

function subclass({ CredentialsSignin }: Kit['errors']): new () => Error {
  return class TooMany extends CredentialsSignin! {
    code = 'too_many'
  }
}

function withCode({ CredentialsSignin }: Kit['errors'], code: string): Error {
  return Object.assign(new CredentialsSignin!(), { code })
}
