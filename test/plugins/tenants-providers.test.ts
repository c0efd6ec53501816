/** Providers of tenants: what looks alike in JSON is not the same, and nothing derived from one is used for another tenant. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { allowInsecureRequests, type AuthConfig, customFetch, type Provider } from 'authkernel/kernel'
import { tenantsPlugin, type TenantsOptions } from 'authkernel/plugins/tenants'
import { compactVerify } from 'jose'
import { baseConfig, Client } from '../_setup.ts'

const issuer = 'https://idp.example'
const document = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  id_token_signing_alg_values_supported: ['ES256'],
}

function make(options: TenantsOptions, config: AuthConfig = {}) {
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt' }, ...config })).use(
    tenantsPlugin({ settings: (request) => ({ namespace: new URL(request.url).hostname.split('.')[0]! }), ...options }),
  )
  return { auth, at: (tenant: string) => new Client(auth, `http://${tenant}.example`) }
}

/** One tenant at an identity provider that all tenants share: what its requests carried. */
async function tenant() {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const assertions: string[] = []
  const sent: string[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    sent.push(new URL(request.url).pathname)
    if (!request.url.endsWith('/token')) return Response.json(document)
    assertions.push(new URLSearchParams(await request.text()).get('client_assertion') ?? '')
    return Response.json({ error: 'invalid_grant' }, { status: 400 })
  }
  const provider = (): Provider => ({
    id: 'sso',
    name: 'Company sign-in',
    type: 'oidc',
    issuer,
    clientId: 'app',
    client: { token_endpoint_auth_method: 'private_key_jwt' },
    token: { clientPrivateKey: { key: privateKey, kid: 'one' } },
    [customFetch]: fetch,
  })
  return { provider, publicKey, sent, assertions }
}

async function signIn(client: Client): Promise<void> {
  const leave = await client.post('/signin/sso')
  const state = new URL(leave.headers.get('location') ?? '').searchParams.get('state') ?? ''
  await client.get(`/callback/sso?code=c&state=${encodeURIComponent(state)}`)
}

describe('providers of tenants', () => {
  it('sign with the private key of the tenant, and send through its `fetch`, where all else is equal', async () => {
    const tenants = { a: await tenant(), b: await tenant() }
    const { at } = make({ provider: (_id, ctx) => tenants[ctx.settings.namespace as 'a' | 'b'].provider() })
    for (const name of ['a', 'b', 'a'] as const) await signIn(at(name))
    for (const { sent } of Object.values(tenants)) expect(new Set(sent)).toEqual(new Set(['/.well-known/openid-configuration', '/token']))
    expect([tenants.a.assertions.length, tenants.b.assertions.length]).toEqual([2, 1])
    for (const { assertions, publicKey } of Object.values(tenants))
      for (const assertion of assertions) await expect(compactVerify(assertion, publicKey)).resolves.toBeDefined()
    await expect(compactVerify(tenants.b.assertions[0]!, tenants.a.publicKey)).rejects.toThrow()
  })

  it('ask their own identity provider for its document, also where it has the same address', async () => {
    const tenants = { a: await tenant(), b: await tenant() }
    const { at } = make({ provider: (_id, ctx) => tenants[ctx.settings.namespace as 'a' | 'b'].provider() })
    for (const name of ['a', 'b', 'a', 'b'] as const) await at(name).post('/signin/sso')
    // Once each: the document is kept for those who would fetch it the same way.
    expect([tenants.a.sent.length, tenants.b.sent.length]).toEqual([1, 1])
  })

  const authorize = () => ({ id: '1', name: 'Ann' })
  /** What the hook `provider` of the plugin answers for each of `given`, asked by the tenants in turn. */
  async function answers(given: (namespace: string) => Provider, tenants: readonly string[], max = 10_000) {
    const seen: Provider[] = []
    const { auth, at } = make({ provider: (_id, ctx) => given(ctx.settings.namespace), max })
    auth.use({
      name: 'look',
      setup: (kernel) => kernel.hook('request', async ({ ctx }) => void seen.push((await ctx.ask('provider', { id: 'sso' })) as Provider)),
    })
    for (const name of tenants) await at(name).get('/session')
    return seen
  }
  const base = { id: 'sso', name: 'Name', type: 'credentials', authorize } as const

  it('are one object for one tenant while their content is equal, and never for two', async () => {
    const [a, again, b] = await answers(() => ({ ...base }) as never, ['a', 'a', 'b'])
    expect(a).toBe(again)
    expect(a).not.toBe(b)
  })

  it.each<[string, () => unknown]>([
    ['a function', () => () => null],
    ['a symbol', () => Symbol('same name')],
    ['a date', () => new Date(0)],
    ['a map', () => new Map()],
    ['a class instance', () => new URL('https://app.example')],
    ['bytes', () => new Uint8Array(2)],
    ['undefined', () => undefined],
    ['not a number', () => Number.NaN],
    ['the text that a function once became', () => 'function 0'],
  ])('differ when one has %s where the other has another one', async (_what, value) => {
    const values = [value(), _what === 'undefined' || _what === 'not a number' || _what.startsWith('the text') ? null : value()]
    let at = 0
    const [one, other, same] = await answers(() => ({ ...base, extra: { value: values[at++ % 2] } }) as never, ['a', 'a', 'a'])
    expect(one).not.toBe(other)
    expect(one).toBe(same)
  })

  it('differ by what a symbol says', async () => {
    let asked = 0
    const [strict, loose] = await answers(() => ({ ...base, ...(asked++ > 0 && { [allowInsecureRequests]: true }) }) as never, ['a', 'a'])
    expect(Object.getOwnPropertySymbols(strict)).toEqual([])
    expect(Object.getOwnPropertySymbols(loose)).toEqual([allowInsecureRequests])
  })

  it('are what they were when they were answered: an object that is changed for the next tenant is another provider', async () => {
    const shared = { ...base, name: '' }
    const [a, b] = await answers((namespace) => Object.assign(shared, { name: namespace }) as never, ['a', 'b'])
    expect([a?.name, b?.name]).toEqual(['a', 'b'])
  })

  it('that refer to themselves are compared like any other', async () => {
    const circular: Record<string, unknown> = { ...base }
    circular['self'] = circular
    const [one, other] = await answers(() => circular as never, ['a', 'a'])
    expect([one?.id, other?.id]).toEqual(['sso', 'sso'])
  })

  it('of a tenant that answers anew each time displace none of another tenant', async () => {
    const tenants = ['a', ...Array.from({ length: 40 }, () => 'b'), 'a']
    const seen = await answers((namespace) => ({ ...base, ...(namespace === 'b' && { authorize: () => null }) }) as never, tenants, 30)
    expect(seen.at(-1)).toBe(seen[0])
  })

  it('are not kept beyond `max`', async () => {
    const seen = await answers(() => ({ ...base }) as never, ['a', 'b', 'c', 'a'], 2)
    expect(seen[3]).not.toBe(seen[0])
    expect(seen[3]).toEqual(seen[0])
  })

  it('from the list of the app stay what they are, for all tenants', async () => {
    const seen: unknown[] = []
    const { auth, at } = make({ providers: (ctx) => [...ctx.app.providers.values()] }, { providers: [base as never] })
    auth.hook('request', async ({ ctx }) => void seen.push(...((await ctx.ask('providers', { providers: [] })) ?? [])))
    for (const name of ['a', 'b']) await at(name).get('/session')
    expect(seen).toHaveLength(2)
    expect(seen[0]).toBe(seen[1])
  })
})

describe('settings of tenants', () => {
  it('with another function for deriving keys are other settings', async () => {
    const secret = ['a secret of both tenants that is long enough']
    const infos = { a: () => 'one', b: () => 'other' }
    const settings = (name: 'a' | 'b') => ({ namespace: 'shared', cookiePrefix: name, secret, keyInfo: infos[name] })
    const seen: string[] = []
    const { auth, at } = make({ settings: (request) => settings(new URL(request.url).hostname[0] as 'a') })
    auth.hook('request', ({ ctx }) => void seen.push(ctx.settings.keyInfo('x')))
    for (const name of ['a', 'b', 'a']) await at(name).get('/session')
    expect(seen).toEqual(['one', 'other', 'one'])
  })
})
