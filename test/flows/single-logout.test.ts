/** Sign-outs at the real `oidc-provider`: begun here, and told by its own logout tokens. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAuth } from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'

const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
let op: RealOp
let server: Server
/** What the provider posts, and to whom. */
let receive: ((request: Request) => Promise<Response>) | undefined
const received: { body: string; status: number }[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const headers = { 'content-type': request.headers['content-type'] ?? '' }
      const answer = await receive?.(new Request(`http://localhost:3000${request.url}`, { method: 'POST', headers, body }))
      received.push({ body, status: answer?.status ?? 0 })
      response.writeHead(answer?.status ?? 500, { 'cache-control': answer?.headers.get('cache-control') ?? '' }).end()
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = {
    client_secret: clientSecret,
    redirect_uris: ['http://localhost:3000/auth/callback/acme'],
    post_logout_redirect_uris: ['http://localhost:3000/auth/signed-out'],
    backchannel_logout_uri: `http://127.0.0.1:${port}/auth/backchannel-logout/acme`,
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
  }
  op = await realOp(
    [
      { client_id: 'with-sid', backchannel_logout_session_required: true, ...client },
      { client_id: 'without-sid', ...client },
    ],
    { features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true }, rpInitiatedLogout: { enabled: true } } },
  )
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await op.stop()
})

/** A person's browser: cookies here and at the provider. */
interface Person {
  here: Client
  there: Map<string, string>
}

describe.each(['jwt', 'database'] as const)('%s sessions', (strategy) => {
  function site(clientId: string): { signIn(login?: string): Promise<Person>; told: unknown[]; errors: Error[] } {
    const errors: Error[] = []
    const told: unknown[] = []
    const auth = createAuth({
      secret: 'the-secret-of-the-instance-has-40-letters',
      trustHost: true,
      env: false,
      adapter: memoryAdapter(),
      session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
      logger: { error: (error) => void errors.push(error), warn() {} },
    })
      .use(oidcPlugin({ id: 'acme', issuer: op.issuer, clientId, clientSecret }))
      .use(singleLogoutPlugin())
    auth.on('providerLogout', (message) => void told.push({ ...message }))
    receive = (request) => auth.handler(request)
    received.length = 0
    const signIn = async (login = 'alice'): Promise<Person> => {
      const [here, there] = [new Client(auth), new Map<string, string>()]
      await here.get(await op.visit(locationOf(await here.signIn('acme')), { login, browser: there }))
      expect([errors, await here.session()]).toEqual([[], expect.anything()])
      return { here, there }
    }
    return { signIn, told, errors }
  }
  const isIn = async ({ here }: Person): Promise<boolean> => (await here.session()) !== null

  it('two browsers of one person: the one that signs out at the provider is signed out here', async () => {
    const { signIn, told, errors } = site('with-sid')
    const [laptop, phone, bob] = [await signIn(), await signIn(), await signIn('bob')]
    await endSession(`${op.issuer}/session/end`, laptop.there)
    await expect.poll(() => received.map(({ status }) => status)).toEqual([200])
    expect(await Promise.all([laptop, phone, bob].map(isIn))).toEqual([false, true, true])
    expect([told, errors]).toEqual([[{ provider: 'acme', sub: 'alice', sid: expect.any(String) as string, channel: 'back' }], []])

    // The provider's own token once more, after the person came back.
    const again = await signIn()
    const [sent] = received
    const answer = await receive!(
      new Request('http://localhost:3000/auth/backchannel-logout/acme', {
        method: 'POST',
        body: sent?.body ?? '',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    )
    expect([answer.status, await isIn(again), told.length]).toEqual([200, true, 1])
  })

  it('a provider that names no session ends all of the person', async () => {
    const { signIn, told } = site('without-sid')
    const [laptop, phone, bob] = [await signIn(), await signIn(), await signIn('bob')]
    await endSession(`${op.issuer}/session/end`, laptop.there)
    await expect.poll(() => received.map(({ status }) => status)).toEqual([200])
    expect(await Promise.all([laptop, phone, bob].map(isIn))).toEqual([false, false, true])
    expect(told).toEqual([{ provider: 'acme', sub: 'alice', sid: undefined, channel: 'back' }])
  })

  it('a sign-out here ends the session there, comes back to where it wanted to go, and leaves the other browser alone', async () => {
    const { signIn, errors } = site('with-sid')
    const [laptop, phone] = [await signIn(), await signIn()]
    const fields = { csrfToken: await laptop.here.csrfToken(), callbackUrl: '/bye' }
    const back = await endSession(locationOf(await laptop.here.post('/signout', fields)), laptop.there)
    expect(new URL(back).pathname).toBe('/auth/signed-out')
    expect(locationOf(await laptop.here.get(back))).toBe('http://localhost:3000/bye')
    expect(await Promise.all([laptop, phone].map(isIn))).toEqual([false, true])
    // The provider asks for the person anew.
    const prompt = locationOf(await laptop.here.signIn('acme', {}, '?prompt=none'))
    expect(await op.visit(prompt, { browser: laptop.there })).toContain('error=login_required')
    expect(errors).toEqual([])
  })
})

it.each([
  ['openid email', null],
  ['openid email offline_access', expect.objectContaining({ accessToken: expect.any(String) as string })],
])('tokens of the session go with it unless they were granted for longer: %s', async (scope, left) => {
  const auth = createAuth({ secret: 'the-secret-of-the-instance-has-40-letters', trustHost: true, env: false, adapter: memoryAdapter() })
    .use(
      oidcPlugin({
        id: 'acme',
        issuer: op.issuer,
        clientId: 'with-sid',
        clientSecret,
        scope,
        authorization: { params: { prompt: 'consent' } },
      }),
    )
    .use(providerTokensPlugin())
    .use(singleLogoutPlugin())
  receive = (request) => auth.handler(request)
  received.length = 0
  let userId = ''
  auth.on('signIn', ({ user }) => void (userId = user.id ?? ''))
  const [here, there] = [new Client(auth), new Map<string, string>()]
  await here.get(await op.visit(locationOf(await here.signIn('acme')), { browser: there }))
  expect(await auth.tokens.get({ userId }, 'acme')).not.toBeNull()
  await endSession(`${op.issuer}/session/end`, there)
  await expect.poll(() => received.map(({ status }) => status)).toEqual([200])
  expect([await here.session(), await auth.tokens.get({ userId }, 'acme')]).toEqual([null, left])
})

/** The person's yes on the logout page of the provider; where that leads. */
async function endSession(location: string, browser: Map<string, string>): Promise<string> {
  const cookie = (): string => [...browser].map(([name, value]) => `${name}=${value}`).join('; ')
  const page = await fetch(location, { headers: { cookie: cookie() }, redirect: 'manual' })
  const html = await page.text()
  for (const line of page.headers.getSetCookie()) browser.set(...(line.split(';')[0]!.split(/=(.*)/s).slice(0, 2) as [string, string]))
  const action = /action="([^"]+)"/.exec(html)?.[1] ?? ''
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const headers = { cookie: cookie(), 'content-type': 'application/x-www-form-urlencoded' }
  const body = new URLSearchParams({ xsrf, logout: 'yes' })
  const answer = await fetch(action, { method: 'POST', headers, body, redirect: 'manual' })
  return answer.headers.get('location') ?? ''
}
