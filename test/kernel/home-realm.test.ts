/** The hook `homeRealm`: who is asked where an address leads, in which order, and what several answers do. */
import { createAuth } from 'authkernel'
import { type AuthConfig, definePlugin, type HomeRealmAnswer, type Plugin, type Provider } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'

const oauth = (id: string): Provider => ({
  id,
  name: `Sign in ${id}`,
  type: 'oauth',
  clientId: 'i',
  clientSecret: 's',
  authorization: `https://${id}.example/authorize`,
  token: `https://${id}.example/token`,
  userinfo: `https://${id}.example/me`,
})
const password: Provider = { id: 'credentials', name: 'Password', type: 'credentials', credentials: { user: {} }, authorize: () => null }
/** A plugin that answers for addresses that end in `ending`. */
const answers = (name: string, ending: string, answer: HomeRealmAnswer | HomeRealmAnswer[] | null, asked: string[] = []): Plugin =>
  definePlugin({
    name,
    setup: (kernel) =>
      void kernel.hook('homeRealm', ({ identifier }) => {
        asked.push(`${name} ${identifier}`)
        return identifier.endsWith(ending) ? answer : undefined
      }),
  })
const service = (asked: string[] = []): Plugin => ({
  name: 'realms',
  setup: (kernel) =>
    kernel.provide('homeRealm', {
      find: (_ctx, address) => {
        asked.push(`service ${address}`)
        return address.endsWith('@old.example') ? { provider: 'old' } : null
      },
    }),
})
/** Connections that are in no list. */
const hooked: Plugin = {
  name: 'hooked',
  setup: (kernel) => kernel.hook('provider', ({ id }) => (id.startsWith('sso-') ? oauth(id) : undefined)),
}

async function open(plugins: readonly Plugin[], config: AuthConfig = {}): Promise<(identifier: string) => Promise<Response>> {
  const auth = createAuth(baseConfig({ origin: 'http://localhost:3000', providers: [password, oauth('old')], ...config }))
  for (const plugin of plugins) auth.use(plugin)
  await auth.ready()
  const client = new Client(auth)
  return (identifier) => client.post('/identifier', { identifier, callbackUrl: '/after' })
}
const placeOf = (answer: Response): string => new URL(answer.headers.get('location') ?? 'none:').host

describe('homeRealm', () => {
  it('leads to the provider that a plugin answers', async () => {
    const type = await open([hooked, answers('sso', '@acme.example', { provider: 'sso-1' })])
    expect(placeOf(await type(' ada@acme.example '))).toBe('sso-1.example')
    const page = await type('ada@other.example')
    expect([page.status, (await page.text()).includes('name="user"')]).toEqual([200, true])
  })

  it('asks every plugin until one answers, and the service only where none did', async () => {
    const asked: string[] = []
    const type = await open([
      hooked,
      service(asked),
      answers('first', '@acme.example', { provider: 'sso-1' }, asked),
      answers('second', '@corp.example', { provider: 'sso-2' }, asked),
      answers('third', '@none.example', null, asked),
    ])
    expect(placeOf(await type('x@acme.example'))).toBe('sso-1.example')
    expect(asked.splice(0)).toEqual(['third x@acme.example', 'second x@acme.example', 'first x@acme.example'])
    expect(placeOf(await type('x@corp.example'))).toBe('sso-2.example')
    expect(placeOf(await type('x@old.example'))).toBe('old.example')
    asked.splice(0)
    expect((await type('x@none.example')).status).toBe(200)
    expect(asked).toEqual(['third x@none.example'])
  })

  it('is asked for names too, the service for addresses alone', async () => {
    const asked: string[] = []
    const type = await open([hooked, service(asked), answers('names', 'acme', { provider: 'sso-1' }, asked)])
    expect(placeOf(await type('acme'))).toBe('sso-1.example')
    expect((await type('ada')).status).toBe(200)
    expect(asked).toEqual(['names acme', 'names ada'])
  })

  it('shows a choice for several answers, and no way of the app beside it', async () => {
    const both = [{ provider: 'sso-1' }, { provider: 'sso-2' }, { provider: 'sso-1' }]
    const type = await open([hooked, answers('sso', '@acme.example', both)])
    const page = await (await type('ada@acme.example')).text()
    expect(page.match(/action="[^"]*\/signin\/sso-\d"/g)).toHaveLength(2)
    expect(page).not.toContain('name="user"')
    expect(page).toContain('Sign in sso-2')
    const host = await open([hooked, answers('sso', '@acme.example', both)], { pages: { signIn: '/in' } })
    expect((await host('ada@acme.example')).headers.get('location')).toBe('/in?providers=sso-1+sso-2')
  })

  it('leaves a provider out that is gone, and says so in the log', async () => {
    const logger = recordingLogger()
    const type = await open([hooked, answers('sso', '@acme.example', [{ provider: 'gone' }, { provider: 'sso-2' }])], { logger })
    expect(placeOf(await type('ada@acme.example'))).toBe('sso-2.example')
    expect(logger.errors.map(String).join()).toContain('named the provider "gone", which does not exist')
  })

  it('is not asked by a request of another site, nor without the token', async () => {
    const asked: string[] = []
    const auth = createAuth(baseConfig({ origin: 'http://localhost:3000', providers: [password] })).use(hooked)
    auth.use(answers('sso', '@acme.example', { provider: 'sso-1' }, asked))
    const body = new URLSearchParams({ identifier: 'ada@acme.example' })
    const send = (headers: Record<string, string>): Promise<Response> =>
      auth.handler(new Request('http://localhost:3000/auth/identifier', { method: 'POST', headers, body }))
    expect((await send({ origin: 'https://evil.example' })).status).toBe(403)
    expect(placeOf(await send({ origin: 'http://localhost:3000' }))).not.toBe('sso-1.example')
    expect(asked).toEqual([])
  })

  it('has the page ask for the address first', async () => {
    const page = async (plugins: readonly Plugin[]): Promise<string> => {
      const auth = createAuth(baseConfig({ origin: 'http://localhost:3000', providers: [password] }))
      for (const plugin of plugins) auth.use(plugin)
      return (await auth.handler(new Request('http://localhost:3000/auth/signin'))).text()
    }
    expect(await page([hooked, answers('sso', '@acme.example', { provider: 'sso-1' })])).toContain('name="identifier"')
    expect(await page([hooked])).not.toContain('name="identifier"')
  })
})
