/** An address leads to the provider of its domain: from the sign-in page, and from a route of the host. */
import { definePlugin, type Kernel, type Plugin, type Provider } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { world } from './_organizations.ts'

const sys = { system: true } as const
const dns = new Map<string, string[]>()
const resolveTxt = (name: string) => Promise.resolve([dns.get(name) ?? []])
const oauth = (id: string, name: string): Provider => ({
  id,
  name,
  type: 'oauth',
  clientId: 'i',
  clientSecret: 's',
  authorization: `https://${id}.example/authorize`,
  token: `https://${id}.example/token`,
  userinfo: `https://${id}.example/me`,
})
const password: Provider = {
  id: 'credentials',
  name: 'Password',
  type: 'credentials',
  credentials: { user: { label: 'User' }, password: { label: 'Password', type: 'password' } },
  authorize: ({ user }) => ({ id: String(user), name: String(user) }),
}
const hooked: Plugin = {
  name: 'hooked',
  setup: (kernel) => kernel.hook('provider', ({ id }) => (id === 'hooked' ? oauth('hooked', 'Hooked GmbH') : undefined)),
}

async function made(provider: string, providers: Provider[], plugins: Plugin[] = [], pages = {}) {
  const of = await world('database', { domains: { resolveTxt } }, { providers, pages }, plugins)
  const id = await of.found()
  const { domains } = of.auth.organizations
  const { record, text } = await domains.claim(sys, id, 'acme.example')
  dns.set(record, [text])
  await domains.prove(sys, id, 'acme.example')
  await domains.setProvider(sys, id, 'acme.example', provider)
  return { ...of, id, client: await of.browser() }
}

describe('the sign-in page', () => {
  it('asks for the address first, and leads an address of the domain to its provider with the callback URL', async () => {
    const { client } = await made('acme', [password, oauth('acme', 'Acme')])
    const page = await client.get('/signin?callbackUrl=/after')
    expect(await page.text()).toMatch(/<label[^>]*>Email or username<\/label><input name="identifier"/)
    const answer = await client.post('/identifier', { identifier: ' Ada@ACME.example ' })
    const to = new URL(answer.headers.get('location') ?? '')
    expect([to.origin, to.pathname]).toEqual(['https://acme.example', '/authorize'])
    expect(to.href).not.toContain('Ada')
    expect(decodeURIComponent(client.cookieHeader())).toContain('callback-url=http://localhost:3000/after')
  })

  it('shows the ways of the app to all others, and its forms go where the provider is', async () => {
    const { client } = await made('acme', [password, oauth('acme', 'Acme')])
    for (const identifier of ['x@other.example', 'x@sub.acme.example', 'acme.example', 'ada']) {
      const answer = await client.post('/identifier', { identifier })
      expect([identifier, answer.status]).toEqual([identifier, 200])
      expect(await answer.text()).toContain('name="password"')
    }
    const hidden = await made('hooked', [password], [hooked])
    expect((await hidden.client.get('/signin')).headers.get('content-security-policy')).toMatch(/form-action [^;]*https:/)
    const to = (await hidden.client.post('/identifier', { identifier: 'x@acme.example' })).headers.get('location')
    expect(new URL(to ?? '').origin).toBe('https://hooked.example')
  })

  it('asks for an address where buttons alone are on the page and an organization may have another provider', async () => {
    const { client } = await made('hooked', [oauth('hub', 'Hub')], [hooked])
    expect(await (await client.get('/signin')).text()).toMatch(/<label[^>]*>Email<\/label><input name="identifier"[^>]*type="email"/)
    const plain = await made('hub', [oauth('hub', 'Hub')])
    expect(await (await plain.client.get('/signin')).text()).not.toContain('name="identifier"')
  })

  it('stays a single form where an address can lead to no provider', async () => {
    const { client } = await made('credentials', [password])
    expect(await (await client.get('/signin')).text()).not.toContain('name="identifier"')
    // A form that is filled in here is no place to go to.
    expect((await client.post('/identifier', { identifier: 'x@acme.example' })).status).toBe(200)
  })

  it('refuses a request of another site', async () => {
    const { client } = await made('acme', [password, oauth('acme', 'Acme')])
    const body = new URLSearchParams({ identifier: 'x@acme.example' })
    const answer = await client.send('/identifier', { method: 'POST', headers: { origin: 'https://evil.example' }, body })
    expect(answer.status).toBe(403)
  })

  it('of the host may post to the same route', async () => {
    const { client } = await made('acme', [password, oauth('acme', 'Acme')], [], { signIn: '/in' })
    const led = await client.post('/identifier', { identifier: 'x@acme.example', callbackUrl: '/after' })
    expect(new URL(led.headers.get('location') ?? '').origin).toBe('https://acme.example')
    const back = await client.post('/identifier', { identifier: 'x@other.example' })
    expect(back.headers.get('location')).toBe('http://localhost:3000/auth/signin')
  })
})

it('a plugin of the host replaces the route', async () => {
  const identifierFirst = definePlugin({
    name: 'identifier-first',
    requires: ['homeRealm'],
    setup(kernel: Kernel) {
      kernel.route({
        method: 'POST',
        path: '/identifier',
        async handler(ctx) {
          const { email } = await ctx.body()
          const realm = await ctx.service('homeRealm').find(ctx, String(email))
          if (!realm) return ctx.page('signIn')
          const provider = await ctx.providerById(realm.provider)
          return (await ctx.flow(provider).start?.(ctx, provider)) ?? ctx.page('signIn')
        },
      })
    },
  })
  const { client } = await made('acme', [password, oauth('acme', 'Acme')], [identifierFirst])
  const led = await client.post('/identifier', { email: 'x@acme.example' })
  expect(new URL(led.headers.get('location') ?? '').origin).toBe('https://acme.example')
  const back = await client.post('/identifier', { email: 'x@other.example' })
  expect(back.headers.get('location')).toBe('http://localhost:3000/auth/signin')
})

it('pages call a provider that only the hook knows by its name, with its picture', async () => {
  const picture = '<svg viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>'
  const named: Plugin = {
    name: 'named',
    setup: (kernel) =>
      kernel.hook('provider', ({ id }) =>
        id === 'sso-4711' ? ({ ...oauth('sso-4711', 'Hooked GmbH'), style: { logo: picture } } as Provider) : undefined,
      ),
  }
  const { id, store, browser } = await made('sso-4711', [password], [named])
  await store.linkAccount({ userId: 'ada', type: 'oauth', provider: 'sso-4711', providerAccountId: 's' })
  const ada = await browser('ada')
  const account = await (await ada.get('/account')).text()
  expect(account).toMatch(/<img class="icon" src="data:image\/svg\+xml,[^"]+" alt="">(?:<[^>]+>)*<bdi>Hooked GmbH<\/bdi>/)
  expect(account).not.toContain('sso-4711')
  const domains = await (await ada.get(`/organizations/domains?organization=${id}`)).text()
  expect(domains).toContain('<option value="sso-4711" selected>Hooked GmbH</option>')
})

it('a plugin of the host answers before the domain does, as docs/plugins/organizations.md shows', async () => {
  const connections = new Map([['acme.example', ['other', 'acme']]])
  const connectionsPlugin = definePlugin({
    name: 'connections',
    setup(kernel) {
      kernel.hook('homeRealm', ({ identifier }) => {
        const domain = identifier.split('@')[1]?.toLowerCase()
        const own = domain === undefined ? undefined : connections.get(domain)
        return own?.map((provider) => ({ provider }))
      })
    },
  })
  const { client } = await made('acme', [password, oauth('acme', 'Acme'), oauth('other', 'Other')], [connectionsPlugin])
  const choice = await (await client.post('/identifier', { identifier: 'x@acme.example' })).text()
  expect(choice.match(/action="[^"]*\/signin\/(other|acme)"/g)).toHaveLength(2)
  connections.set('acme.example', ['other'])
  const led = await client.post('/identifier', { identifier: 'x@acme.example' })
  expect(new URL(led.headers.get('location') ?? '').origin).toBe('https://other.example')
  connections.clear()
  const byDomain = await client.post('/identifier', { identifier: 'x@acme.example' })
  expect(new URL(byDomain.headers.get('location') ?? '').origin).toBe('https://acme.example')
})
