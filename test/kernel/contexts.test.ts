/** Contexts, messages, decorators and jobs: what outsiders' plugins stand on. */
import { describe, expect, it } from 'vitest'
import { createKernel, type Plugin } from 'authkernel/kernel'
import { createAuth as createWhole } from 'authkernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'

const password = credentialsPlugin({
  id: 'password',
  type: 'credentials',
  name: 'Password',
  authorize: ({ password: typed }: Record<string, unknown>) => (typed === 'right' ? { id: '1', name: 'Ada' } : null),
} as never)
const bare = (...plugins: Plugin[]) => {
  const auth = createKernel(baseConfig()).use(jwtSessionPlugin())
  for (const plugin of plugins) auth.use(plugin)
  return auth
}
const signIn = (client: Client, typed = 'right') => client.post('/callback/password', { username: 'ada', password: typed })

describe('messages', () => {
  it('have the context of the request, not enumerable, in every hook and event', async () => {
    const auth = createWhole(baseConfig()).use(password)
    const seen = new Map<string, Record<string, unknown>>()
    const note = (name: string) => (message: object) => void seen.set(name, message as Record<string, unknown>)
    auth.hook('signIn', (message) => (note('hook signIn')(message), true))
    for (const name of ['jwt', 'session', 'redirect', 'request', 'login', 'signOut', 'authenticate', 'providers'] as const)
      auth.hook(name, note(`hook ${name}`) as never)
    for (const name of ['signIn', 'signedIn', 'session', 'signOut'] as const) auth.on(name, note(`on ${name}`))
    const client = new Client(auth)
    await signIn(client)
    await client.session()
    await client.get('/providers')
    await client.post('/signout')
    expect([...seen.keys()].sort()).toEqual(
      [
        'hook authenticate',
        'hook jwt',
        'hook login',
        'hook providers',
        'hook redirect',
        'hook request',
        'hook session',
        'hook signIn',
        'hook signOut',
        'on session',
        'on signIn',
        'on signOut',
        'on signedIn',
      ].sort(),
    )
    for (const [name, message] of seen) {
      expect(message['ctx'], name).toHaveProperty('request')
      expect(Object.keys(message), name).not.toContain('ctx')
      expect(JSON.stringify({ ...message }), name).not.toContain('ctx')
      if (!name.startsWith('on ')) continue
      expect(Object.keys(message), name).not.toContain('facts')
      expect(message['facts'], name).toMatchObject({ requestId: expect.stringMatching(/^[0-9a-f-]{36}$/), namespace: '', job: undefined })
    }
  })

  it('keep it when a pipe hands a copy on', async () => {
    const auth = createWhole(baseConfig()).use(password)
    const paths: string[] = []
    for (const step of [1, 2]) {
      auth.hook('jwt', ({ token, ctx }) => (paths.push(new URL(ctx.request.url).pathname), { ...token, step }))
      auth.hook('jwt', async ({ token, ctx }) => (paths.push(new URL(ctx.request.url).pathname), { ...token, later: step }))
    }
    await signIn(new Client(auth))
    expect(paths).toEqual(Array(4).fill('/auth/callback/password'))
  })

  it('signIn says whether the user is known, beside the fields of Auth.js', async () => {
    const auth = createWhole(baseConfig()).use(password)
    const seen: unknown[] = []
    auth.hook('signIn', (message) => (seen.push(message.known, Object.keys(message)), true))
    await signIn(new Client(auth))
    expect(seen).toEqual([false, ['user', 'account', 'credentials']])
  })

  it('signInFailed has the account that was tried and the name as it was typed', async () => {
    const auth = createWhole(baseConfig()).use(password)
    const failed: unknown[] = []
    auth.on(
      'signInFailed',
      ({ provider, tried, account, error }) => void failed.push({ provider, tried, account: account?.providerAccountId, type: error.type }),
    )
    const client = new Client(auth)
    await signIn(client, 'wrong')
    const off = auth.hook('signIn', () => false)
    await signIn(client)
    off()
    expect(failed).toEqual([
      { provider: 'password', tried: 'ada', account: undefined, type: 'CredentialsSignin' },
      { provider: 'password', tried: 'ada', account: '1', type: 'AccessDenied' },
    ])
  })

  it('an error that `request` throws is told to signInFailed in a sign-in, to refused elsewhere', async () => {
    const auth = createWhole(baseConfig()).use(password)
    const told: string[] = []
    auth.hook('request', () => {
      throw new Error('closed')
    })
    auth.on('signInFailed', ({ error }) => void told.push(`failed ${error.message}`))
    auth.on('refused', ({ error, route }) => void told.push(`refused ${route?.path} ${error.message}`))
    await new Client(auth).send('/callback/password', { method: 'POST', body: new URLSearchParams({ username: 'ada' }) })
    await new Client(auth).get('/session')
    expect(told).toEqual(['failed closed', 'refused /session closed'])
  })

  it('refused says why: token, host, method, path, body', async () => {
    const auth = createWhole(baseConfig({ allowedHosts: ['localhost:3000'] }))
      .use(password)
      .use({
        name: 'p',
        setup: (kernel) =>
          kernel.route({
            method: 'POST',
            path: '/p',
            csrf: 'crossSite',
            body: { types: ['json'], bytes: 10 },
            handler: async (ctx) => Response.json(await ctx.body()),
          }),
      })
    const reasons: string[] = []
    auth.on('refused', ({ reason }) => void reasons.push(reason))
    const client = new Client(auth)
    await client.post('/signout', { csrfToken: 'wrong' })
    await new Client(auth, 'http://evil.example').get('/session')
    await client.send('/p', { method: 'PUT' })
    await client.get('/nowhere')
    await client.post('/p', { a: '1' })
    await client.send('/p', { method: 'POST', body: '{"a":"longer than ten"}', headers: { 'content-type': 'application/json' } })
    expect(reasons).toEqual(['MissingCSRF', 'host', 'method', 'path', 'body', 'body'])
  })
})

describe('on("*")', () => {
  it('hears every event, those of other plugins too, and session reads only when it asks', async () => {
    const auth = createWhole(baseConfig()).use(password)
    const heard: string[] = []
    const reads: string[] = []
    auth.on('*', ({ event, message }) => void heard.push(`${event} ${message.facts.namespace}${message.ctx.request ? '' : '?'}`))
    const client = new Client(auth)
    await signIn(client)
    await client.session()
    expect(heard).toEqual(['signIn ', 'signedIn '])
    auth.on('*', ({ event }) => void reads.push(event), { reads: true })
    await client.session()
    expect(reads).toEqual(['session'])
    expect(heard).toEqual(['signIn ', 'signedIn '])
  })

  it('a listener that throws is reported by the name of the event', async () => {
    const logger = recordingLogger()
    const auth = createWhole(baseConfig({ logger })).use(password)
    auth.on('*', () => {
      throw new Error('broken')
    })
    await signIn(new Client(auth))
    expect(logger.errors.map(({ message }) => message)).toEqual([
      'A handler of the event "signIn" failed.',
      'A handler of the event "signedIn" failed.',
    ])
  })
})

describe('decorators', () => {
  const shout = (name: string, mark: string): Plugin => ({
    name,
    setup: (kernel) =>
      kernel.decorate('session', (inner) => ({
        read: async (ctx) => {
          const session = await inner.read(ctx)
          return session && { ...session, marks: [...((session as { marks?: string[] }).marks ?? []), mark] }
        },
      })),
  })

  it('wrap in the order of use, keep the other members, and go with their plugin', async () => {
    const auth = createWhole(baseConfig()).use(password).use(shout('one', '1')).use(shout('two', '2'))
    const client = new Client(auth)
    await signIn(client)
    expect(await client.session()).toMatchObject({ user: { name: 'Ada' }, marks: ['1', '2'] })
    expect(auth.inspect().decorators).toEqual([
      { name: 'session', plugin: 'one' },
      { name: 'session', plugin: 'two' },
    ])
    auth.remove('one')
    expect(await client.session()).toMatchObject({ marks: ['2'] })
    await client.post('/signout')
    expect(await client.session()).toBeNull()
  })

  it('of a service that no plugin provides are left out; the mistake of one is the fault', async () => {
    await bare({ name: 'd', setup: (kernel) => kernel.decorate('pages', () => ({})) }).ready()
    const broken = bare({
      name: 'd',
      setup: (kernel) =>
        kernel.decorate('session', () => {
          throw new Error('not like this')
        }),
    })
    await expect(broken.ready()).rejects.toThrow('not like this')
  })
})

describe('kernel.service and contexts for APIs', () => {
  it('a service is that of the moment; asking in setup is refused', async () => {
    const api: Plugin<{ once(): unknown }> = { name: 'api', setup: (kernel) => ({ once: () => kernel.service('once') }) }
    const auth = bare().use(api)
    expect(auth.once()).toHaveProperty('take')
    expect(() => bare({ name: 'early', setup: (kernel) => void kernel.service('once') })).toThrow(
      'Plugin "early" asks for the service "once" in `setup`',
    )
  })

  it('contextOf answers for a request and for a job, and throws the configuration mistake', async () => {
    const api = {
      name: 'api',
      setup: (kernel: Parameters<Plugin['setup']>[0]) => ({
        address: async (request: Request) => (await kernel.contextOf(request)).origin,
        name: async (job: string) => (await kernel.contextOf({ job })).facts.job,
      }),
    }
    const auth = bare().use(api)
    expect(await auth.address(new Request('http://localhost:3000/x'))).toBe('http://localhost:3000')
    expect(await auth.name('sweep')).toBe('sweep')
    const wrong = createKernel({ secret: 'short' }).use(api)
    await expect(wrong.address(new Request('http://localhost:3000/x'))).rejects.toThrow('secret')
    await expect(wrong.name('sweep')).rejects.toThrow('secret')
  })
})
