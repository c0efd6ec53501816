/** A tenant is a namespace: nothing that one stores, counts or seals is there for another. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { type AuthConfig, HttpError, type Plugin, type ProviderFlow } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { emailPlugin } from 'authkernel/plugins/email'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { tenantsPlugin, type TenantSettings } from 'authkernel/plugins/tenants'
import { baseConfig, Client, recordingLogger, secret } from '../_setup.ts'

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    /** An identity provider that says whatever its form says. */
    sso: { id: string; name: string; type: 'sso' }
  }
}

const flow: ProviderFlow<{ id: string }> = {
  async finish(ctx, { id }) {
    const { sub, email } = (await ctx.body()) as Record<string, string>
    const account = { provider: id, type: 'sso' as const, providerAccountId: sub! }
    return { user: { name: `${ctx.settings.namespace} ${sub}`, ...(email && { email }) }, account, match: 'account' }
  },
}
const sso: Plugin = {
  name: 'sso',
  setup(kernel) {
    kernel.providerType('sso', flow as never)
    kernel.provider({ id: 'sso', name: 'Single sign-on', type: 'sso' } as never)
  },
}
const namespaces: Record<string, string> = { 'a.example': 'a', 'b.example': 'b', 'app.example': '' }
// One secret for all: what keeps tenants apart must not depend on it.
const settings = (request: Request): TenantSettings => {
  const namespace = namespaces[new URL(request.url).hostname]
  if (namespace === undefined) throw new HttpError(404, 'Not found.')
  return { namespace }
}

function make(config: AuthConfig = {}, plugins: readonly Plugin[] = []) {
  const data = memoryData()
  const auth = createAuth(baseConfig({ allowedHosts: Object.keys(namespaces), ...config }))
    .use(adapterPlugin(memoryAdapter(data)))
    .use(sso)
    .use(tenantsPlugin({ settings, tenant: (name) => (name in namespaces ? { namespace: namespaces[name]! } : undefined) }))
  for (const plugin of plugins) auth.use(plugin)
  const at = (host: string) => new Client(auth, `http://${host}`)
  return { auth, data, a: at('a.example'), b: at('b.example'), main: at('app.example'), at }
}

describe.each(['jwt', 'database'] as const)('tenants under the %s strategy', (strategy) => {
  const world = (config: AuthConfig = {}, plugins: readonly Plugin[] = []) => make({ session: { strategy }, ...config }, plugins)

  it('the same subject at the same provider id is another person', async () => {
    const { a, b, main, data, at } = world()
    for (const client of [main, a, b]) await client.post('/callback/sso', { sub: '1' })
    expect(data.users.size).toBe(3)
    expect([(await main.session())?.user?.name, (await a.session())?.user?.name, (await b.session())?.user?.name]).toEqual([
      ' 1',
      'a 1',
      'b 1',
    ])
    await at('b.example').post('/callback/sso', { sub: '1' })
    expect(data.users.size).toBe(3)
  })

  it('the same address is another person, and no account is linked across', async () => {
    const { a, b, data } = world()
    await a.post('/callback/sso', { sub: '1', email: 'ada@example.com' })
    await b.post('/callback/sso', { sub: '2', email: 'ada@example.com' })
    expect(data.users.size).toBe(2)
    expect((await b.session())?.user?.email).toBe('ada@example.com')
  })

  it('a session of one tenant is rejected at another, also with one secret', async () => {
    const { a, b, main } = world()
    await a.post('/callback/sso', { sub: '1' })
    for (const other of [b, main]) {
      for (const [name, value] of a.cookies) other.cookies.set(name, value)
      expect(await other.session()).toBeNull()
    }
    expect(await a.session()).not.toBeNull()
  })

  it('a value that is written like one of another namespace stays in its own', async () => {
    const { a, main, data, at } = world()
    await a.post('/callback/sso', { sub: '1', email: 'ada@example.com' })
    await main.post('/callback/sso', { sub: '9', email: '~a~ada@example.com' })
    expect((await main.session())?.user?.email).toBe('~a~ada@example.com')
    expect([...data.users.values()].map(({ email }) => email).sort()).toEqual(['~a~ada@example.com', '~~~a~ada@example.com'])
    const token = [...data.sessions.keys()].find((key) => key.startsWith('~a~'))
    if (strategy === 'jwt' || !token) return
    const thief = at('app.example')
    thief.cookies.set('authkernel.session-token', token)
    expect(await thief.session()).toBeNull()
  })
})

it('wrong passwords at one tenant do not lock the name at another', async () => {
  const { a, b } = make({ session: { strategy: 'jwt' }, throttle: { credentials: { max: 2, seconds: 600 } } }, [
    credentialsPlugin({
      id: 'password',
      authorize: ({ password }: Record<string, unknown>) => (password === 'right' ? { id: '1', name: 'Ada' } : null),
    } as never),
  ])
  const attempt = (client: Client, password: string) => client.post('/callback/password', { username: 'ada', password })
  for (let i = 0; i < 3; i++) await attempt(a, 'wrong')
  expect((await attempt(a, 'right')).status).toBe(429)
  expect((await attempt(b, 'right')).status).toBe(302)
  expect(await b.session()).toMatchObject({ user: { name: 'Ada' } })
})

it('mails at one tenant do not silence another, and a link of one is nothing at another', async () => {
  const mails: { url: string }[] = []
  const { auth, a, b } = make({ session: { strategy: 'jwt' }, throttle: { mail: { max: 1, seconds: 600 } } }, [
    emailPlugin({
      id: 'mail',
      type: 'email',
      name: 'Mail',
      from: 'no-reply@example.com',
      sendVerificationRequest: ({ url }: { url: string }) => void mails.push({ url }),
    } as never),
  ])
  for (const client of [a, a, b]) await client.post('/signin/mail', { email: 'ada@example.com' })
  await auth.ready()
  expect(mails.map(({ url }) => new URL(url).host)).toEqual(['a.example', 'b.example'])
  const link = new URL(mails[0]!.url)
  const stolen = await b.get(`${link.pathname.replace('/auth', '')}${link.search}`)
  expect(stolen.headers.get('location')).toContain('error=Verification')
  expect(await b.session()).toBeNull()
  const own = await a.get(`${link.pathname.replace('/auth', '')}${link.search}`)
  expect(own.headers.get('location')).not.toContain('error')
  expect(await a.session()).toMatchObject({ user: { email: 'ada@example.com' } })
})

it('rows and tokens from before tenants belong to the default namespace', async () => {
  const { main, a, data } = make({ session: { strategy: 'jwt' } })
  const before = createAuth(baseConfig({ session: { strategy: 'jwt' } }))
    .use(adapterPlugin(memoryAdapter(data)))
    .use(sso)
  const former = new Client(before, 'http://app.example')
  await former.post('/callback/sso', { sub: '1', email: 'ada@example.com' })
  for (const client of [main, a]) for (const [name, value] of former.cookies) client.cookies.set(name, value)
  expect(await main.session()).toMatchObject({ user: { email: 'ada@example.com' } })
  expect(await a.session()).toBeNull()
  await main.post('/callback/sso', { sub: '1', email: 'ada@example.com' })
  expect(data.users.size).toBe(1)
})

it('an unknown tenant is answered 404, and its sessions throw', async () => {
  const { auth, at } = make()
  const response = await at('evil.example').get('/session')
  expect([response.status, await response.json()]).toEqual([404, 'Not found.'])
  await expect(auth.session(new Request('http://evil.example/'))).rejects.toThrow('Not found.')
})

it('settings without a namespace are refused, with the remedy', async () => {
  const logger = recordingLogger()
  const auth = createAuth(baseConfig({ logger })).use(tenantsPlugin({ settings: () => ({ secret: [secret] }) as never }))
  expect((await new Client(auth).get('/session')).status).toBe(500)
  expect(logger.errors[0]?.message).toMatch(/Plugin "tenants": `settings` answered without `namespace`/)
})

it.each(['A', 'a b', 'a'.repeat(33), '~'])('the namespace %j is refused', async (namespace) => {
  const logger = recordingLogger()
  const auth = createAuth(baseConfig({ logger })).use(tenantsPlugin({ settings: () => ({ namespace }) }))
  expect((await new Client(auth).get('/session')).status).toBe(500)
  expect(logger.errors[0]?.message).toContain('wrong namespace')
})

it('two tenants on one host need cookies of their own', async () => {
  const logger = recordingLogger()
  const byPath = (prefixes: boolean) =>
    createAuth(baseConfig({ logger })).use(
      tenantsPlugin({
        settings(request) {
          const [, namespace = ''] = new URL(request.url).pathname.split('/')
          return { namespace, basePath: `/${namespace}/auth`, ...(prefixes && { cookiePrefix: `app-${namespace}` }) }
        },
      }),
    )
  const shared = byPath(false)
  expect((await shared.handler(new Request('http://localhost/a/auth/session'))).status).toBe(200)
  expect((await shared.handler(new Request('http://localhost/b/auth/session'))).status).toBe(500)
  expect(logger.errors[0]?.message).toContain('`cookiePrefix`')
  const apart = byPath(true)
  for (const tenant of ['a', 'b']) expect((await apart.handler(new Request(`http://localhost/${tenant}/auth/session`))).status).toBe(200)
})

describe('jobs', () => {
  it('work in the namespace of their tenant', async () => {
    const found: Record<string, unknown> = {}
    const job: Plugin<{ look(tenant: string | null): Promise<void> }> = {
      name: 'job',
      setup: (kernel) => ({
        look: (tenant) =>
          kernel.job({ job: 'look', tenant }, async (ctx) => {
            const user = await ctx.store?.getUserByAccount({ provider: 'sso', providerAccountId: '1' })
            found[String(tenant)] = [user?.name, ctx.facts.namespace, ctx.facts.job, ctx.request]
          }),
      }),
    }
    const { auth, a } = make()
    await a.post('/callback/sso', { sub: '1' })
    const { look } = auth.use(job) as unknown as { look(tenant: string | null): Promise<void> }
    for (const tenant of ['a.example', 'b.example', null]) await look(tenant)
    expect(found).toEqual({
      'a.example': ['a 1', 'a', 'look', undefined],
      'b.example': [undefined, 'b', 'look', undefined],
      null: [undefined, '', 'look', undefined],
    })
    await expect(look('nowhere')).rejects.toThrow('Not found.')
  })

  it('must say which tenant they are for', async () => {
    const { auth } = make()
    const { run } = auth.use({ name: 'job', setup: (kernel) => ({ run: () => kernel.job({ job: 'sweep' }, () => 1) }) }) as unknown as {
      run(): Promise<number>
    }
    await expect(run()).rejects.toThrow('The job "sweep" does not say for which tenant it runs')
    const plain = createAuth(baseConfig()).use({ name: 'job', setup: (kernel) => ({ run: () => kernel.job({ job: 'sweep' }, () => 1) }) })
    expect(await plain.run()).toBe(1)
  })
})
