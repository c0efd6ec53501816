/** Reading, renewing, changing and ending sessions, under both strategies. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { acme, ann, form } from './_hosts.ts'
import { start } from './_flow.ts'

type Options = Record<string, unknown>

const cookie = 'authjs.session-token'
const day = 24 * 60 * 60
const user = { ...ann, emailVerified: null }
const row = (seconds: number): Options => ({ sessionToken: 'token-1', userId: 'ann', expires: new Date(start.getTime() + seconds * 1000) })
const down = (): never => {
  throw new Error('host: the store is down')
}
const asked = ['jwt', 'session', 'redirect']

/** A browser that holds a token of the library. */
function jwt(
  name: string,
  run: (b: Browser, kit: Kit) => Promise<void>,
  more: (kit: Kit) => Options = () => ({}),
  payload: Options = {},
  over: Options = {},
): Flow {
  return {
    name: `jwt: ${name}`,
    config: (kit) => ({ providers: [form(kit)], callbacks: kit.watch(...asked), ...more(kit) }),
    run: async (b, kit) => {
      b.cookies.set(cookie, await kit.token({ name: 'Ann', email: 'ann@example.com', picture: null, sub: 'ann', ...payload }, over))
      await run(b, kit)
    },
  }
}

/** A browser with a row in the store. */
function database(
  name: string,
  run: (b: Browser, kit: Kit) => Promise<void>,
  more: (kit: Kit) => Options = () => ({}),
  seconds = 30 * day,
  rows: Parameters<Kit['adapter']>[0] = {},
): Flow {
  return {
    name: `database: ${name}`,
    config: (kit) => ({
      providers: [acme(kit)],
      adapter: kit.adapter({ users: [user], sessions: [row(seconds)], ...rows }),
      session: { strategy: 'database' },
      callbacks: kit.watch('session', 'redirect'),
      ...more(kit),
    }),
    run: async (b, kit) => {
      b.cookies.set(cookie, 'token-1')
      await run(b, kit)
    },
  }
}

const read = async (b: Browser): Promise<void> => {
  await b.get('/session')
  await b.get('/session')
}
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
      // Whatever failed, nobody signed out.
      decided: { 0: { decision: 'D38', ours: { answer: { status: 503, body: null, cookies: [] } } } },
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
  ...tokens(),
  ...rows(),
  ...ages(),
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

/** Tokens that are not quite right, and other ways to make them. */
function tokens(): Flow[] {
  return [
    jwt('expired', async (b, kit) => {
      kit.wait(31 * day)
      await read(b)
    }),
    jwt('nearly expired', async (b, kit) => {
      kit.wait(30 * day - 60)
      await b.get('/session')
    }),
    jwt('of another secret', read, () => ({}), {}, { secret: 'another-secret-of-more-than-32-characters-here' }),
    jwt('of another salt', read, () => ({}), {}, { salt: 'other' }),
    jwt('of the second secret', read, () => ({
      secret: ['a-new-secret-of-more-than-32-characters-for-it', 'a-secret-of-more-than-32-characters-for-tests'],
    })),
    jwt('without name and picture', read, () => ({ callbacks: {} }), { name: undefined, picture: undefined }),
    jwt('without a subject', read, () => ({}), { sub: undefined }),
    jwt('with a picture', read, () => ({ callbacks: {} }), { picture: 'https://img.example/a.png' }),
    jwt('altered', async (b) => {
      b.cookies.set(cookie, `${b.cookies.get(cookie)?.slice(0, -4)}AAAA`)
      await read(b)
      await b.post('/signout')
    }),
    jwt('in chunks', async (b) => {
      const value = b.cookies.get(cookie) ?? ''
      b.cookies.delete(cookie)
      b.cookies.set(`${cookie}.1`, value.slice(100))
      b.cookies.set(`${cookie}.0`, value.slice(0, 100))
      await read(b)
    }),
    jwt('in chunks, signing out', async (b) => {
      const value = b.cookies.get(cookie) ?? ''
      b.cookies.delete(cookie)
      b.cookies.set(`${cookie}.1`, value.slice(100))
      b.cookies.set(`${cookie}.0`, value.slice(0, 100))
      await out(b)
    }),
    jwt('altered, signing out', async (b) => {
      b.cookies.set(cookie, `${b.cookies.get(cookie)?.slice(0, -4)}AAAA`)
      await out(b)
    }),
    jwt('expired, signing out', async (b, kit) => {
      kit.wait(31 * day)
      await out(b)
    }),
    jwt(
      'large',
      async (b) => {
        await read(b)
        await out(b)
      },
      (kit) => ({ callbacks: kit.watch({ jwt: ({ token }: { token: Options }) => ({ ...token, large: 'x'.repeat(9000) }) }) }),
    ),
    jwt(
      'grows and shrinks',
      async (b, kit) => {
        await b.get('/session')
        kit.recorder.note('host', 'shrink', null)
        await update(b)
        await b.get('/session')
      },
      (kit) => ({
        callbacks: kit.watch({
          jwt: ({ token, trigger }: { token: Options; trigger?: string }) => ({
            ...token,
            large: trigger === 'update' ? '' : 'x'.repeat(5000),
          }),
        }),
      }),
    ),
    {
      ...jwt('the secure cookie over http', read),
      run: async (b, kit) => {
        b.cookies.set(`__Secure-${cookie}`, await kit.token({ sub: 'ann' }, { salt: `__Secure-${cookie}` }))
        await read(b)
      },
    },
    {
      ...jwt('https', read),
      origin: 'https://app.example',
      run: async (b, kit) => {
        b.cookies.set(`__Secure-${cookie}`, await kit.token({ name: 'Ann', sub: 'ann' }, { salt: `__Secure-${cookie}` }))
        await read(b)
        await out(b)
      },
    },
    jwt('encode and decode of the host', read, (kit) => ({
      jwt: {
        encode(params: Options) {
          const { token, salt, maxAge, secret } = params
          kit.recorder.note('host', 'encode', { token, salt, maxAge, secret })
          return JSON.stringify(token)
        },
        decode(params: Options) {
          const { token, salt, secret } = params
          kit.recorder.note('host', 'decode', { token: String(token).length > 0, salt, secret })
          return { name: 'Host', sub: 'host' }
        },
      },
    })),
    jwt('decode answers null', read, () => ({ jwt: { decode: () => null } })),
    jwt('decode throws', read, () => ({ jwt: { decode: () => Promise.reject(new Error('host: no')) } })),
  ]
}

/** Rows that ended, are unknown, and stores that fail. */
function rows(): Flow[] {
  return [
    database('ended', read, undefined, -1),
    {
      ...database('ends now', async (b) => void (await b.get('/session')), undefined, 0),
      decided: { 0: { decision: 'issue 4', ours: { answer: { status: 200, body: null } } } },
    },
    database('unknown', async (b) => {
      b.cookies.set(cookie, 'token-2')
      await read(b)
      await out(b)
    }),
    database('without its user', read, undefined, 30 * day, { users: [] }),
    database('user without a name', read, () => ({ callbacks: {} }), 30 * day, {
      users: [{ id: 'ann', email: 'ann@example.com', emailVerified: null }],
    }),
    ...['getSessionAndUser', 'updateSession', 'deleteSession'].map((method) =>
      database(`${method} fails`, read, undefined, method === 'deleteSession' ? -1 : 1 * day, { replace: { [method]: down } }),
    ),
    database('deleteSession fails on sign-out', async (b) => void (await b.post('/signout')), undefined, 30 * day, {
      replace: { deleteSession: down },
    }),
    database('deleteSession answers nothing', out, undefined, 30 * day, { replace: { deleteSession: () => undefined } }),
    database('updateSession answers null', read, undefined, 1 * day, { replace: { updateSession: () => null } }),
  ]
}

/** Lifetimes. */
function ages(): Flow[] {
  const ages: Options[] = [{ maxAge: 3600 }, { maxAge: 3600, updateAge: 0 }, { updateAge: 0 }, { maxAge: 10 * day, updateAge: 5 * day }]
  const later = async (b: Browser, kit: Kit): Promise<void> => {
    for (const seconds of [0, 1800, 1790, day, day]) {
      kit.wait(seconds)
      await b.get('/session')
    }
  }
  const signInAndRead = async (b: Browser, kit: Kit): Promise<void> => {
    b.cookies.clear()
    await b.post('/callback/credentials', { username: 'ann', password: 'right' })
    await later(b, kit)
  }
  return ages.flatMap((session) => [
    database(
      `${JSON.stringify(session)}`,
      later,
      () => ({ session: { strategy: 'database', ...session } }),
      Number(session['maxAge'] ?? 30 * day),
    ),
    jwt(`${JSON.stringify(session)}`, signInAndRead, () => ({ session })),
    jwt(`jwt.maxAge over ${JSON.stringify(session)}`, signInAndRead, () => ({ session, jwt: { maxAge: 600 } })),
  ])
}
