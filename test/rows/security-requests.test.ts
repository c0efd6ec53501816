/** Attacks on one request: bodies, hosts, and handlers of the host that never answer (SECURITY 5.2, I7). */
import { createAuth } from 'authkernel'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { createWorld } from './_world.ts'

const hang = (): Promise<never> => new Promise(() => {})
const credentials = (authorize: (sent: Record<string, unknown>) => unknown) =>
  ({ id: 'password', name: 'Password', type: 'credentials', authorize }) as never

describe('GHSA-737v: keys that reach a prototype when a host merges what was sent', () => {
  it.each([
    ['plain', String.raw`{"__proto__":{"polluted":true},"deep":{"__proto__":{"polluted":true}}}`],
    ['escaped', String.raw`{"\u005f_proto__":{"polluted":true},"deep":{"_\u005Fproto_\u005f":{"polluted":true}}}`],
  ])('%s', async (_name, json) => {
    let sent: Record<string, unknown> = {}
    const auth = createAuth(baseConfig({ providers: [credentials((given) => void (sent = given))] }))
    const client = new Client(auth)
    const body = `{"csrfToken":"${await client.csrfToken()}",${json.slice(1)}`
    await client.send('/callback/password', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    expect(sent).toHaveProperty('csrfToken')
    const copy = Object.assign({}, sent, sent['deep']) as { polluted?: unknown }
    expect(copy.polluted).toBeUndefined()
    expect(Object.hasOwn(sent, '__proto__')).toBe(false)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

describe('I7: every request is answered, whatever a handler of the host does', () => {
  const deadlines = { store: 30 }

  it('a failure handler that hangs: the redirect comes without it', async () => {
    const options = baseConfig({ providers: [credentials(() => null)], deadlines })
    const auth = createAuth(options)
    auth.hook('failure', hang)
    const response = await new Client(auth).post('/callback/password')
    expect(response.headers.get('location')).toContain('error=CredentialsSignin')
    expect(options.logger.errors.map(({ name }) => name)).toEqual(['CredentialsSignin', 'RequestTimeout'])
  })

  it('a settings hook that hangs', async () => {
    const options = baseConfig({ deadlines: { request: 30 } })
    const auth = createAuth(options).use(tenantsPlugin({ settings: hang }))
    const response = await auth.handler(new Request('http://localhost:3000/auth/session'))
    expect(response.status).toBe(500)
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(options.logger.errors.map(({ name }) => name)).toEqual(['RequestTimeout'])
    await expect(auth.session(new Request('http://localhost:3000/auth/session'))).rejects.toThrow(/deadlines.request/)
  })

  it('a listener of signInFailed that hangs', async () => {
    const options = baseConfig({ providers: [credentials(() => null)], deadlines })
    const auth = createAuth(options)
    auth.on('signInFailed', hang)
    expect((await new Client(auth).post('/callback/password')).headers.get('location')).toContain('error=CredentialsSignin')
    expect(options.logger.errors.map(({ name }) => name)).toEqual(['CredentialsSignin', 'EventError'])
  })
})

describe('Host headers that are not trusted', () => {
  const error = '/oops'

  it('never become the address of an error page', async () => {
    const auth = createAuth(baseConfig({ trustHost: false, pages: { error } }))
    for (const headers of [{}, { 'x-auth-return-redirect': '1' }]) {
      const response = await auth.handler(new Request('https://evil.example/auth/signin', { headers }))
      expect(`${[...response.headers].join()} ${await response.text()}`).not.toContain('evil.example')
    }
    const response = await auth.handler(new Request('https://evil.example/auth/signin'))
    expect(response.headers.get('location')).toBe('/oops?error=Configuration')
  })

  it('a configured origin is named in full', async () => {
    const auth = createAuth(baseConfig({ origin: 'https://app.example', secret: 'short', pages: { error } }))
    const response = await auth.handler(new Request('https://evil.example/auth/signin'))
    expect(response.headers.get('location')).toBe('https://app.example/oops?error=Configuration')
  })
})

describe('D31: after the deadline of a request nothing more is made', () => {
  afterEach(() => void vi.useRealTimers())

  it.each(['signIn', 'login'] as const)('a slow %s hook', async (hook) => {
    let open: (() => void) | undefined
    const world = createWorld('database', 'whole')
    const answer = hook === 'signIn' ? true : undefined
    world.auth.hook(hook, (() => new Promise((resolve) => (open = () => resolve(answer)))) as never)
    const back = await world.toProvider('oidc')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const coming = world.client.get(back)
    while (!open) await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(15_000)
    expect((await coming).headers.get('location')).toContain('error=Configuration')
    open()
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(world.data.sessions.size).toBe(0)
    if (hook === 'signIn') expect(world.data.users.size).toBe(0)
  })
})

describe('6.3.1: guesses at a password', () => {
  it.each([
    ['a name', 'pat'],
    ['a list', ['pat']],
    ['a nested list', [['Pat ']]],
    ['another script', '\uFF50at'],
  ])('count as the name they are sent in: %s', async (_name, username) => {
    const auth = createAuth(baseConfig({ providers: [credentials(() => null)], throttle: { credentials: { max: 2 } } }))
    const client = new Client(auth)
    const csrfToken = await client.csrfToken()
    const guess = async (value: unknown): Promise<number> => {
      const body = JSON.stringify({ csrfToken, username: value, password: 'wrong' })
      return (await client.send('/callback/password', { method: 'POST', body, headers: { 'content-type': 'application/json' } })).status
    }
    expect([await guess('pat'), await guess(username), await guess(username)]).toEqual([302, 302, 429])
  })
})
