/** The redirect proxy: one registered redirect_uri for many deployments (rows 203 to 205). */
import { describe, expect, it } from 'vitest'
import { createAuth, type AuthConfig } from 'authkernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { Client, locationOf, setCookies } from '../_client.ts'
import { secret, useOp } from '../_op/journey.ts'

const op = useOp()
const proxyUrl = 'https://proxy.example/auth'
const errors: Error[] = []

function deployment(origin: string, config: AuthConfig = {}, provider: object = {}): Client {
  errors.length = 0
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    redirectProxyUrl: proxyUrl,
    allowedHosts: ['*.example'],
    logger: { error: (error) => errors.push(error) },
    ...config,
  })
  return new Client(
    auth.use(oidcPlugin({ id: 'acme', issuer: op().issuer, clientId: 'client-1', clientSecret: op().clientSecret, ...provider })),
    { origin },
  )
}
const begin = async (client: Client): Promise<URL> => new URL(locationOf(await client.signIn('acme', { callbackUrl: '/there' })))

describe('row 203', () => {
  it('redirect_uri is the proxy’s, state is sent and names the origin for holders of the secret only', async () => {
    op().reset()
    const { searchParams } = await begin(deployment('https://preview.example'))
    expect(searchParams.get('redirect_uri')).toBe(`${proxyUrl}/callback/acme`)
    expect(searchParams.get('state')).toMatch(/^eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/)
  })
  it('per provider, over the one of the instance; with checks none too', async () => {
    op().reset()
    const { searchParams } = await begin(
      deployment('https://preview.example', {}, { redirectProxyUrl: 'https://other.example/auth/', checks: ['none'] }),
    )
    expect(searchParams.get('redirect_uri')).toBe('https://other.example/auth/callback/acme')
    expect(searchParams.has('state')).toBe(true)
  })
  it('not with form_post, whose answer cannot be forwarded', async () => {
    op().reset()
    const { searchParams } = await begin(
      deployment('https://preview.example', {}, { authorization: { params: { response_mode: 'form_post' } } }),
    )
    expect(searchParams.get('redirect_uri')).toBe('https://preview.example/auth/callback/acme')
  })
})

describe('a server that believes any Host header', () => {
  const provider = () => ({ id: 'acme', type: 'oidc' as const, name: 'Acme', issuer: op().issuer, clientId: 'client-1', clientSecret: 'x' })
  const ready = (config: AuthConfig, own: object = {}): Promise<void> =>
    createAuth({ secret, trustHost: true, env: false, logger: {}, providers: [{ ...provider(), ...own }], ...config }).ready()

  it('is refused a redirect proxy, of the configuration, of the environment and of the provider', async () => {
    const told = /Provider "acme" \(oidc\): `redirectProxyUrl`.*`allowedHosts`.*AUTH_URL/
    await expect(ready({ redirectProxyUrl: proxyUrl })).rejects.toThrow(told)
    await expect(ready({ env: { AUTH_REDIRECT_PROXY_URL: proxyUrl } })).rejects.toThrow(told)
    await expect(ready({}, { redirectProxyUrl: proxyUrl })).rejects.toThrow(told)
    // No codes go through a proxy that is switched off for the provider.
    await ready({ redirectProxyUrl: proxyUrl }, { redirectProxyUrl: '' })
  })
  it('may have one with a list of hosts or an origin', async () => {
    await ready({ redirectProxyUrl: proxyUrl, allowedHosts: ['*.example'] })
    await ready({ redirectProxyUrl: proxyUrl, origin: 'https://preview.example' })
    await ready({ redirectProxyUrl: proxyUrl, env: { AUTH_URL: 'https://preview.example/auth' } })
  })
  it('sends nothing to the proxy: a Host header is answered with the configuration error', async () => {
    const auth = createAuth({
      secret,
      trustHost: true,
      env: false,
      logger: { error() {} },
      providers: [provider()],
      redirectProxyUrl: proxyUrl,
    })
    const answer = await auth.handler(new Request('https://evil.example/auth/callback/acme?code=1&state=2'))
    expect([answer.status, answer.headers.get('location')]).toEqual([500, null])
  })
})

describe('rows 204, 205', () => {
  it('the proxy forwards to no host that `allowedHosts` does not have, for a deployment may believe any Host header', async () => {
    op().reset()
    const allowedHosts = ['proxy.example', '*.preview.example']
    const callback = async (origin: string): Promise<string> => op().authorize((await begin(deployment(origin))).href)
    const fine = await deployment('https://proxy.example', { allowedHosts }).get(await callback('https://a.preview.example'))
    expect(new URL(locationOf(fine)).origin).toBe('https://a.preview.example')
    const evil = await callback('https://evil.example')
    const refused = await deployment('https://proxy.example', { allowedHosts }).get(evil)
    expect(new URL(locationOf(refused)).origin).toBe('https://proxy.example')
    expect(errors.map(({ name, message }) => [name, message])).toEqual([['InvalidCheck', expect.stringContaining('"evil.example"')]])
  })
  it('the proxy forwards to the deployment, which signs in and sends the proxy’s redirect_uri to the token endpoint', async () => {
    op().reset()
    const preview = deployment('https://preview.example')
    const proxy = deployment('https://proxy.example')
    const back = new URL(await op().authorize((await begin(preview)).href))
    back.searchParams.append('scope', 'a b')
    expect(back.origin).toBe('https://proxy.example')
    const forwarded = await proxy.get(back.href)
    expect(forwarded.status).toBe(302)
    expect(setCookies(forwarded)).toEqual([])
    const target = new URL(locationOf(forwarded))
    expect(target.origin + target.pathname).toBe('https://preview.example/auth/callback/acme')
    expect([...target.searchParams]).toEqual([...back.searchParams])
    expect(op().count('/token')).toBe(0)
    expect(locationOf(await preview.get(target.href))).toBe('https://preview.example/there')
    expect([...op().exchanges.values()][0]?.token.get('redirect_uri')).toBe(`${proxyUrl}/callback/acme`)
    expect(errors).toEqual([])
  })
  it('the proxy signs in its own people', async () => {
    op().reset()
    const proxy = deployment('https://proxy.example')
    const back = await op().authorize((await begin(proxy)).href)
    expect(locationOf(await proxy.get(back))).toBe('https://proxy.example/there')
  })
  it('errors of the provider are forwarded too', async () => {
    op().reset()
    const preview = deployment('https://preview.example')
    const state = (await begin(preview)).searchParams.get('state') ?? ''
    const query = new URLSearchParams({ error: 'access_denied', state })
    const forwarded = locationOf(await deployment('https://proxy.example').get(`/callback/acme?${query.toString()}`))
    expect(locationOf(await preview.get(forwarded))).toBe('https://preview.example/auth/signin?error=OAuthCallbackError')
  })
  it('a state that was made without the secret: InvalidCheck, no redirect elsewhere', async () => {
    op().reset()
    const states = ['x', '', 'https://evil.example', 'eyJhbGciOiJub25lIn0.eyJvcmlnaW4iOiJodHRwczovL2V2aWwuZXhhbXBsZSJ9.']
    const foreign = deployment('https://preview.example', { secret: 'another-secret-of-40-characters-abcdefgh' })
    states.push((await begin(foreign)).searchParams.get('state') ?? '')
    const other = deployment('https://preview.example', {}, {})
    const good = (await begin(other)).searchParams.get('state') ?? ''
    states.push(`${good.slice(0, -4)}AAAA`, other.cookies.get('__Secure-authkernel.state') ?? '')
    for (const state of states) {
      const proxy = deployment('https://proxy.example')
      expect(locationOf(await proxy.get(`/callback/acme?${new URLSearchParams({ code: 'c', state }).toString()}`))).toBe(
        'https://proxy.example/auth/error?error=Configuration',
      )
      expect(errors.map(({ name }) => name)).toEqual(['InvalidCheck'])
    }
    const proxy = deployment('https://proxy.example')
    expect(locationOf(await proxy.get('/callback/acme?code=c'))).toContain('error=Configuration')
    expect(locationOf(await proxy.get(`/callback/acme?code=c&state=${good}&state=${good}`))).toContain('https://proxy.example/auth/error')
  })
  it('a state of another provider is not forwarded', async () => {
    op().reset()
    const state = (await begin(deployment('https://preview.example', {}, { id: 'acme' }))).searchParams.get('state') ?? ''
    const proxy = deployment('https://proxy.example', {}, { id: 'other' })
    expect(locationOf(await proxy.get(`/callback/other?code=c&state=${state}`))).toBe(
      'https://proxy.example/auth/error?error=Configuration',
    )
  })
  it('a state expires', async () => {
    op().reset()
    const state = (await begin(deployment('https://preview.example'))).searchParams.get('state') ?? ''
    const proxy = deployment('https://proxy.example', { runtime: { now: () => Date.now() + 901_000 } })
    expect(locationOf(await proxy.get(`/callback/acme?code=c&state=${state}`))).toBe('https://proxy.example/auth/error?error=Configuration')
  })
  it('a deployment that is not the proxy forwards nothing', async () => {
    op().reset()
    const preview = deployment('https://preview.example')
    const state = (await begin(preview)).searchParams.get('state') ?? ''
    const third = deployment('https://third.example')
    expect(locationOf(await third.get(`/callback/acme?code=c&state=${state}`))).toBe('https://third.example/auth/error?error=Configuration')
  })
})
