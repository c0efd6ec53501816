/** Sessions that end, are unreadable, unknown or made in another way. */
import type { Browser } from './_browser.ts'
import { cookie, database, day, down, jwt, read } from './_flow-session.ts'
import type { Flow, Kit } from './_flow.ts'

type Options = Record<string, unknown>

const out = async (b: Browser): Promise<void> => {
  await b.post('/signout', { callbackUrl: '/bye' })
  await b.get('/session')
  await b.post('/signout')
}
const update = async (b: Browser): Promise<void> => {
  const csrfToken = await b.csrfToken()
  await b.send('POST', '/session', { json: { csrfToken, data: { role: 'admin' } } })
  await b.get('/session')
}

export const lifetimeFlows: Flow[] = [...tokens(), ...rows(), ...ages()]

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
      decided: { 0: { hook: 'a lifetime', ours: { answer: { status: 200, body: null } } } },
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
