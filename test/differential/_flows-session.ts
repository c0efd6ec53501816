/** Reading, changing and ending sessions, under both strategies. */
import type { Browser } from './_browser.ts'
import { database, jwt, read } from './_flow-session.ts'
import type { Flow, Kit } from './_flow.ts'

type Options = Record<string, unknown>

const update = async (b: Browser): Promise<void> => {
  const csrfToken = await b.csrfToken()
  await b.send('POST', '/session', { json: { csrfToken, data: { role: 'admin' } } })
  await b.get('/session')
}
const out = async (b: Browser): Promise<void> => {
  await b.post('/signout', { callbackUrl: '/bye' })
  await b.get('/session')
  await b.post('/signout')
}

const both = (name: string, run: (b: Browser, kit: Kit) => Promise<void>, more?: (kit: Kit) => Options): Flow[] => [
  jwt(name, run, more),
  database(name, run, more),
]

export const sessionFlows: Flow[] = [
  ...both('read', read),
  ...both('read, silent', read, () => ({ callbacks: {} })),
  ...both('update', update),
  ...both('update, silent', update, () => ({ callbacks: {} })),
  ...both('sign out', out),
  ...both(
    'sign out, return-redirect',
    async (b) => void (await b.post('/signout', { callbackUrl: '/bye' }, { headers: { 'x-auth-return-redirect': '1' } })),
  ),
  ...both('sign out by GET', async (b) => {
    await b.get('/signout')
    await b.get('/session')
  }),
  ...both(
    'sign out, own page',
    async (b) => {
      await b.get('/signout')
      await b.get('/signout?callbackUrl=/x')
    },
    () => ({ pages: { signOut: '/leave' } }),
  ),
  ...both('update as a form', async (b) => void (await b.post('/session', { data: 'text' }))),
  ...both('update without a token', async (b) => {
    await b.send('POST', '/session', { json: { data: 1 } })
    await b.send('POST', '/session', { json: { csrfToken: 'wrong', data: 1 } })
  }),
  ...both('update without data', async (b) => void (await b.post('/session'))),
  ...both('update, return-redirect', async (b) => void (await b.post('/session', {}, { headers: { 'x-auth-return-redirect': '1' } }))),
  ...['null', 'a text', 'more fields', 'the input'].flatMap((what) =>
    both(`session answers ${what}`, read, (kit) => ({
      callbacks: kit.watch({ session: (message: { session: Options }) => answer(what, message.session) }),
    })),
  ),
  ...['null', 'a claim', 'in place'].flatMap((what) => [
    jwt(`jwt answers ${what}`, read, (kit) => ({
      callbacks: kit.watch({ jwt: (message: { token: Options }) => token(kit, what, message.token) }, 'session'),
    })),
    jwt(`jwt answers ${what} to an update`, update, (kit) => ({
      callbacks: kit.watch({ jwt: (message: { token: Options }) => token(kit, what, message.token) }, 'session'),
    })),
  ]),
  jwt('the update changes the token', update, (kit) => ({
    callbacks: kit.watch({
      jwt: ({ token, trigger, session }: { token: Options; trigger?: string; session?: Options }) =>
        trigger === 'update' ? { ...token, ...session } : token,
      session: ({ session, token }: { session: Options; token: Options }) => ({ ...session, role: token['role'] }),
    }),
  })),
  database('the update is seen by the callback', update, (kit) => ({
    callbacks: kit.watch({
      session: ({ session, newSession }: { session: { expires: Date | string }; newSession?: unknown }) => ({
        expires: new Date(session.expires).toISOString(),
        newSession,
      }),
    }),
  })),
  ...['jwt', 'session'].flatMap((callback) => [
    {
      ...jwt(
        `${callback} throws`,
        async (b) => void (await b.get('/session')),
        (kit) => ({ callbacks: kit.watch({ [callback]: () => Promise.reject(new Error('host: no')) }) }),
      ),
      // Whatever failed, no user was signed out.
      decided: { 0: { hook: 'D38', ours: { answer: { status: 503, body: null, cookies: [] } } } },
    },
  ]),
  {
    ...database(
      'session throws',
      async (b) => void (await b.get('/session')),
      (kit) => ({ callbacks: kit.watch({ session: () => Promise.reject(new Error('host: no')) }) }),
    ),
  },
  ...both('a listener fails', read, () => ({ events: { session: () => Promise.reject(new Error('host: no')) } })),
  ...both('a listener of signOut fails', out, () => ({ events: { signOut: () => Promise.reject(new Error('host: no')) } })),
]

function answer(what: string, session: Options): unknown {
  if (what === 'an error') throw new Error('host: no session')
  const { name } = session['user'] as { name: string }
  const answers: Record<string, unknown> = {
    null: null,
    'a text': 'text',
    'more fields': { user: { name, role: 'admin' }, expires: '2030-01-01' },
    'the input': { user: { name }, ...session },
  }
  return answers[what]
}

function token(kit: Kit, what: string, given: Options): unknown {
  if (what === 'an error') throw new Error('host: no token')
  if (what === 'an AuthError') throw new kit.errors['AccessDenied']!('host: no' as never)
  if (what === 'in place') return Object.assign(given, { role: 'admin' })
  const answers: Record<string, unknown> = { null: null, 'a claim': { ...given, role: 'admin' } }
  return answers[what]
}
