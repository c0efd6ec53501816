/** The world of the walks has every plugin of this package: the routes and APIs of a new one are walked by themselves. */
import * as openid from 'openid-client'
import { expect, it } from 'vitest'
import { isFullTier } from '../_tier.ts'
import type { Client } from '../_setup.ts'
import { begin, discover, visit } from './_app.ts'
import { allPlugins, everything, notWalked } from './_every-plugin.ts'
import { ofOrganization, ofUser, passing, text, walk, world, type World } from './_everything.ts'

const origin = 'http://localhost:3000'

/** Routes that check no CSRF token and no Origin, and what proves their requests instead. Each new one needs a reason here. */
const unchecked: Readonly<Record<string, string>> = {
  'POST /webauthn-options': 'makes options for the browser of the request alone, and answers POST only where it must not be cached',
  'POST /webauthn-options/:provider': 'likewise',
  'POST /callback/:provider': 'the state of the flow; providers with a form of ours check the token, see below',
  'POST /callback': 'likewise',
  'POST /signin/:provider/nonce': 'gives a nonce, which signs no user in',
  'POST /signin/:provider/token': 'a token that the provider signed for a nonce of this device; pages of other origins get 403',
  'POST /jwt/key-token': 'an API key in the header',
  'POST /jwt/introspect': 'the secret of a service',
  'POST /oauth/token': 'a code with PKCE, or a refresh token',
  'POST /oauth/revoke': 'the token itself',
  'POST /oauth2/authorize': 'leads to the same address by GET, and does nothing else',
  'POST /oauth2/token': 'a code with PKCE, a refresh token, or the secret of a client',
  'POST /oauth2/par': 'the secret of a client; a public one stores a request, which a user must answer',
  'POST /oauth2/device_authorization': 'gives a code that a user must type and allow, within limits',
  'POST /oauth2/bc-authorize': 'the secret of a client; the user must answer',
  'POST /oauth2/introspect': 'the secret of a client',
  'POST /oauth2/revoke': 'the token itself',
  'POST /oauth2/userinfo': 'the token itself',
  'POST /oauth2/register': 'makes a client that can do nothing without a user, within limits',
  'PUT /oauth2/register/:client': 'the registration token of the client',
  'DELETE /oauth2/register/:client': 'the registration token of the client',
  'POST /oauth/device': 'begins a sign-in of a device, and gives nothing',
  'POST /saml/:provider/acs': 'a response that the provider signed, to a request of this browser',
  'POST /saml/:provider/logout': 'a message that the provider signed',
  'POST /backchannel-logout/:provider': 'a token that the provider signed',
  'POST /global-token-revocation/:provider': 'a token that the provider signed',
  'POST /signals/:provider': 'a token that the provider signed',
  ...Object.fromEntries(
    ['POST /Bulk', 'POST /.search', 'POST /Users/.search', 'POST /Groups/.search', 'POST /Users', 'POST /Groups', 'POST /Me']
      .concat(['PUT', 'PATCH', 'DELETE', 'POST'].flatMap((method) => ['', '/:kind', '/:kind/:id'].map((path) => `${method} ${path}`)))
      .concat(['PUT', 'PATCH', 'DELETE'].flatMap((method) => [`${method} /Users/:id`, `${method} /Groups/:id`, `${method} /Me`]))
      .map((route) => [route.replace(' ', ' /scim/v2'), 'the token of a directory']),
  ),
  'POST /dbsc/register': 'a proof of the key of the browser',
  'POST /dbsc/refresh': 'a proof of the key of the browser',
}

it('every plugin is in the world of the walks, or on the list of those that are not, with a reason', async () => {
  const { auth } = everything()
  await auth.ready()
  const names = new Set(auth.inspect().plugins.map(({ name }) => name))
  expect(allPlugins.length).toBeGreaterThan(40)
  expect(allPlugins.filter((name) => !names.has(name) && !(name in notWalked))).toEqual([])
  expect(Object.keys(notWalked).filter((name) => !allPlugins.includes(name) || names.has(name))).toEqual([])
})

const changing = (of: World) => of.auth.inspect().routes.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method))
const everythingOf = ({ data }: World) =>
  text([data.users, data.accounts, data.sessions, [...(data.records ?? [])].filter(([name]) => !passing.has(name))])

async function ask(client: Client, path: string, provider: string, init: RequestInit): Promise<Response> {
  const to = path.replace(/:(\w+)/g, (_, name) => (name === 'provider' ? provider : 'ada'))
  return client.send(path.startsWith('/.well-known') ? origin + to : to, init)
}

it.each(['jwt', 'database'] as const)(
  'every route that changes something refuses what has no token and what comes from another site, %s sessions',
  async (strategy) => {
    const of = await world(strategy)
    const refused: string[] = []
    of.auth.on('refused', ({ reason }) => void refused.push(reason))
    of.auth.on('signInFailed', ({ error }) => void refused.push(error.type))
    const client = await of.browser('ada')
    const before = everythingOf(of)
    const open = new Set<string>()
    for (const { method, path } of changing(of)) {
      const checked = new Set<string>()
      for (const provider of path.includes(':provider') ? ['orbit', 'credentials', 'passkey'] : [''])
        for (const isJson of [false, true]) {
          const csrfToken = await client.csrfToken()
          const type = { 'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded' }
          const body = (fields: Record<string, string>) => (isJson ? JSON.stringify(fields) : new URLSearchParams(fields).toString())
          const token = body({ id: 'ada', user: 'ada', csrfToken })
          const attempts: [string, RequestInit][] = [
            ['no token', { headers: type, body: body({ id: 'ada', user: 'ada' }) }],
            ['a wrong token', { headers: type, body: body({ id: 'ada', user: 'ada', csrfToken: '0'.repeat(64) }) }],
            ['another site', { headers: { ...type, origin: 'https://evil.example' }, body: token }],
            ['a sibling', { headers: { ...type, 'sec-fetch-site': 'same-site' }, body: token }],
          ]
          for (const [name, init] of attempts) {
            refused.length = 0
            const response = await ask(client, path, provider, { ...init, method })
            expect([method, path, name, response.status < 500]).toEqual([method, path, name, true])
            if (refused.includes('MissingCSRF')) checked.add(name)
            // A route takes forms, or JSON.
            else if (response.status !== 415) open.add(`${method} ${path}`)
          }
        }
      if (!open.has(`${method} ${path}`)) expect([method, path, checked.size]).toEqual([method, path, 4])
      expect([method, path, everythingOf(of) === before]).toEqual([method, path, true])
    }
    expect([...open].toSorted()).toEqual(Object.keys(unchecked).toSorted())
    // The callback of a form of ours.
    const stranger = await of.browser()
    const csrfToken = await stranger.csrfToken()
    for (const body of [{ user: 'ada' }, { user: 'ada', csrfToken: '0'.repeat(64) }])
      await stranger.send('/callback/credentials', { method: 'POST', body: new URLSearchParams(body) })
    await stranger.send('/callback/credentials', {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
      body: new URLSearchParams({ user: 'ada', csrfToken }),
    })
    expect(await stranger.session()).toBeNull()
    expect((await client.session())?.user).toBeTruthy()
  },
  60_000,
)

it.each(['a guest', 'an API key of the user', 'an app token of the user'])(
  '%s changes nothing of the user by any route, and no route answers 5xx',
  async (who) => {
    const of = await world()
    const kept = () => ofUser(of, 'ada') + ofOrganization(of, of.own.organization)
    const headers: Record<string, string> = {}
    if (who === 'an API key of the user')
      headers['authorization'] = `Bearer ${(await of.auth.apiKeys.create({ userId: 'ada' }, { name: 'k' })).key}`
    if (who === 'an app token of the user') {
      const config = await discover(of.auth as never, 'app')
      const begun = await begin(config)
      const answer = new URL(await visit(await of.browser('ada'), begun.url))
      const { access_token } = await openid.authorizationCodeGrant(config, answer, {
        pkceCodeVerifier: begun.verifier,
        expectedState: begun.state,
      })
      headers['authorization'] = `Bearer ${access_token}`
    }
    const open = async () => {
      const client = await of.browser()
      if (who === 'a guest') await client.post('/guest')
      const send = client.send.bind(client)
      client.send = (path, init = {}) => send(path, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } })
      return client
    }
    const session = await (await open()).session()
    expect([session?.user?.['id'] === 'ada', session === null]).toEqual([who !== 'a guest', false])
    const { changed, asked } = await walk(of, kept, { client: open })
    expect(changed).toEqual([])
    expect(asked).toBeGreaterThan(isFullTier ? 1000 : 300)
  },
  120_000,
)
