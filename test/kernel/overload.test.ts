/** A server that has too much to do answers 503 and says when to come back: to people, to programs, and on every kind of route. */
import { createAuth } from 'authkernel'
import { type Adapter, AuthError, type AuthConfig, CallbackRouteError, json, Overloaded } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { createLine } from '../../plugins/sign-in/passwords/line.ts'

const hang = () => new Promise<never>(() => {})
const html = { accept: 'text/html' }

/** An instance with routes that fail in the ways of `work`. */
function world(work: () => unknown, config: AuthConfig = {}) {
  const options = baseConfig({ deadlines: { request: 40 }, ...config })
  const auth = createAuth(options).use({
    name: 'p',
    setup(kernel) {
      const handler = async (): Promise<Response> => json(await work())
      kernel.route({ method: 'GET', path: '/plain', handler })
      kernel.route({ method: 'GET', path: '/own', handler, failure: () => json({ error: 'server_error' }, 500) })
      kernel.route({ method: 'GET', path: '/flow', flow: 'callback', handler })
    },
  })
  return { auth, client: new Client(auth), options }
}

describe.each([
  ['a request that takes longer than its deadline', hang],
  ['a plugin that is overloaded', () => Promise.reject(new Overloaded('Busy.', { retryAfter: 7 }))],
  ['an overload behind another error', () => Promise.reject(new CallbackRouteError('x', { cause: { err: new Overloaded('Busy.') } }))],
])('%s', (_name, work) => {
  it.each(['/plain', '/own', '/flow'])('is 503 with Retry-After for programs (%s)', async (path) => {
    const response = await world(work).client.get(path)
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toMatchObject({ error: expect.any(String) })
  })

  it.each([
    ['en', 'We are busy right now'],
    ['de', 'Gerade ist viel los'],
    ['fr', 'Nous sommes très sollicités'],
    ['es', 'Ahora hay mucha actividad'],
    ['ja', 'ただいま混み合っています'],
  ])('is a page with 503 and Retry-After for people (%s)', async (language, heading) => {
    const response = await world(work).client.get('/plain', { ...html, 'accept-language': language })
    expect([response.status, Number(response.headers.get('retry-after')) > 0]).toEqual([503, true])
    expect(await response.text()).toContain(heading)
  })

  it('is JSON with 503 for the client, which asks for no redirect', async () => {
    const response = await world(work).client.get('/plain', { ...html, 'x-auth-return-redirect': '1' })
    expect([response.status, response.headers.has('retry-after')]).toEqual([503, true])
    expect(await response.json()).toMatchObject({ url: expect.stringContaining('/auth/error?error=') })
  })
})

describe('a store', () => {
  const user = { id: '1', name: 'Ann', email: 'ann@example.com' }
  const providers = [{ id: 'credentials', name: 'Password', type: 'credentials' as const, authorize: () => user }]
  async function signedIn(change: Partial<Adapter>) {
    const memory = memoryAdapter()
    await memory.createUser({ ...user, emailVerified: null })
    const adapter: Adapter = { ...memory }
    const options = baseConfig({ providers, adapter, deadlines: { store: 30 }, session: { strategy: 'database' } })
    const client = new Client(createAuth(options))
    await client.post('/callback/credentials')
    const csrfToken = await client.csrfToken()
    Object.assign(adapter, change)
    return { client, csrfToken }
  }
  const full = () => Promise.reject(Object.assign(new Error('sorry, too many clients already'), { code: '53300' }))

  it.each([
    ['that hangs', { getSessionAndUser: hang, updateSession: hang, createSession: hang }],
    ['without a free connection', { getSessionAndUser: full, updateSession: full, createSession: full }],
  ])('%s is 503 with Retry-After, and the session stays', async (_name, change) => {
    const { client, csrfToken } = await signedIn(change as Partial<Adapter>)
    const read = await client.get('/session')
    const update = await client.send('/session', {
      method: 'POST',
      body: JSON.stringify({ csrfToken, data: {} }),
      headers: { 'content-type': 'application/json' },
    })
    const begin = await client.send('/callback/credentials', { method: 'POST', body: new URLSearchParams({ csrfToken }), headers: html })
    // A call that hangs leads people to the error page, as any other fault of a store.
    for (const response of change.createSession === hang ? [read, update] : [read, update, begin]) {
      expect(response.status).toBe(503)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(client.cookies.has('authkernel.session-token')).toBe(true)
  })
})

it('errors that are no overload stay what they were', async () => {
  const { client } = world(() => Promise.reject(new AuthError('Broken.')))
  const [plain, own] = [await client.get('/plain'), await client.get('/own')]
  expect([plain.status, own.status, own.headers.has('retry-after')]).toEqual([302, 500, false])
})

describe('hashes of passwords', () => {
  it('are not begun when they would come too late, and the line opens again', async () => {
    let now = 0
    const ends: (() => void)[] = []
    const line = createLine({ places: Promise.resolve(1), now: () => now, patience: 2_500 })
    const hash = () => new Promise<void>((resolve) => ends.push(resolve))
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const first = line.run(hash)
    await turn()
    now += 1_000
    ends.shift()!()
    await first
    // Each takes a second: the third of those that wait would wait for longer than two and a half.
    const begun = [line.run(hash), line.run(hash), line.run(hash)]
    await turn()
    await expect(line.run(hash)).rejects.toMatchObject({ status: 503, cause: { retryAfter: 3 } })
    for (const one of begun) {
      now += 1_000
      ends.shift()!()
      await one
      await turn()
    }
    const again = line.run(hash)
    await turn()
    ends.shift()!()
    await again
  })

  it('of the first crowd after a start those who waited too long are refused, and none is computed in vain', async () => {
    let now = 0
    const ends: (() => void)[] = []
    const line = createLine({ places: Promise.resolve(1), now: () => now, patience: 2_500 })
    const hash = () => new Promise<void>((resolve) => ends.push(resolve))
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const crowd = [...Array(10).keys()].map(() =>
      line.run(hash).then(
        () => 'computed',
        (error: { status: number }) => error.status,
      ),
    )
    await turn()
    for (let end = ends.shift(); end; end = ends.shift()) {
      now += 2_000
      end()
      await turn()
    }
    expect(await Promise.all(crowd)).toEqual(['computed', 'computed', ...Array(8).fill(503)])
    const again = line.run(hash)
    await turn()
    expect(ends).toHaveLength(1)
    ends.shift()!()
    await again
  })

  it('of twenty sign-ups at once some are asked to come back, and none is an error of the server', async () => {
    const config = baseConfig({ adapter: memoryAdapter(), deadlines: { request: 250 } })
    const auth = createAuth(config)
      .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: async () => {} }) })
      .use(passwordsPlugin({ breached: false, algorithm: 'scrypt' }))
    await auth.ready({ warm: true })
    const clients = await Promise.all(
      [...Array(20).keys()].map(async () => {
        const client = new Client(auth)
        return { client, csrfToken: await client.csrfToken() }
      }),
    )
    const answers = await Promise.all(
      clients.map(({ client, csrfToken }, at) =>
        client.send('/passwords/sign-up', {
          method: 'POST',
          body: new URLSearchParams({ csrfToken, email: `ann-${at}@example.com`, password: 'seven purple otters sing' }),
          headers: at % 2 === 0 ? html : {},
        }),
      ),
    )
    const busy = answers.filter(({ status }) => status === 503)
    expect(busy.length).toBeGreaterThan(0)
    expect(busy.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true)
    expect(answers.filter(({ status }) => status !== 503 && status >= 400)).toEqual([])
  })
})
