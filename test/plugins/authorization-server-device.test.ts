/** The device grant (RFC 8628): openid-client on a television, the user at the page, and what neither a stranger nor an old approval opens. */
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { adminPlugin } from 'authkernel/plugins/admin'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { guestPlugin } from 'authkernel/plugins/guest'
import { type ImpersonationApi, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { mailPlugin } from 'authkernel/plugins/mail'
import { Client } from '../_setup.ts'
import { clients, discover, issuer, refusal, secret, ticketOf, world, type World } from './_authorization-server.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'
const grants = [grantType as typeof grantType, 'refresh_token' as const]
const television = (client_id: string, more: object = {}) => ({
  client_id,
  client_name: `Television <${client_id}>`,
  grant_types: grants,
  ...more,
})

async function start(options: Parameters<typeof world>[0] = {}, plugins: Parameters<typeof world>[2] = []) {
  const host = await world(
    {
      clients: [
        ...clients!,
        television('tv'),
        television('other'),
        television('box', { client_secret: secret }),
        television('small', { scope: 'read' }),
      ],
      device: { place: () => 'Lisbon' },
      ...options,
    },
    {},
    plugins,
  )
  const configOf = (id: string) =>
    discover(host.auth, id, ['box', 'partner'].includes(id) ? openid.ClientSecretBasic(secret) : openid.None())
  const ask = async (params: Record<string, string> = {}, id = 'tv') =>
    openid.initiateDeviceAuthorization(await configOf(id), { scope: 'openid read', ...params })
  const poll = async (device_code: string, id = 'tv', params: Record<string, string> = {}) =>
    openid.genericGrantRequest(await configOf(id), grantType, { device_code, ...params })
  return { ...host, configOf, ask, poll }
}

async function type(browser: Client, user_code: string): Promise<{ text: string; ticket: string }> {
  const text = await (await browser.post('/oauth2/device', { user_code })).text()
  return { text, ticket: ticketOf(text) }
}
async function answer(browser: Client, user_code: string, decision: 'allow' | 'deny' = 'allow'): Promise<string> {
  const { ticket } = await type(browser, user_code)
  return (await browser.post('/oauth2/device/decide', { ticket, decision })).headers.get('location') ?? ''
}

describe('a device', () => {
  it('shows a code, the user sees who asks, from where and what for, and of several polls one gets the tokens', async () => {
    const { ask, poll, browser, runtime, configOf } = await start()
    const ada = await browser()
    const asked = await ask()
    expect(asked).toMatchObject({ verification_uri: `${issuer}/oauth2/device`, expires_in: 600, interval: 5 })
    expect(asked.user_code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/)
    runtime.advance(5_000)
    expect(await refusal(poll(asked.device_code))).toBe('authorization_pending')
    expect(await refusal(poll(asked.device_code))).toBe('slow_down')
    // Whatever the user types around it.
    const { text } = await type(ada, ` ${asked.user_code.toLowerCase().replace('-', ' ')} `)
    expect([text.includes(asked.user_code), text.includes('Television &lt;tv&gt;'), text.includes('<tv>')]).toEqual([true, true, false])
    expect(await answer(ada, asked.user_code)).toContain('done=allowed')
    runtime.advance(11_000)
    const polls = await Promise.allSettled(Array.from({ length: 8 }, () => poll(asked.device_code)))
    const given = polls.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(given).toHaveLength(1)
    expect(given[0]!.claims()).toMatchObject({ sub: 'ada', aud: 'tv', auth_time: expect.any(Number) })
    expect(given[0]!.refresh_token).toBeTruthy()
    const fresh = await openid.refreshTokenGrant(await configOf('tv'), given[0]!.refresh_token!)
    expect(fresh.scope?.split(' ').toSorted()).toEqual(['openid', 'read'])
    expect(await refusal(poll(asked.device_code))).toBe('invalid_grant')
    expect((await configOf('tv')).serverMetadata()).toMatchObject({
      device_authorization_endpoint: `${issuer}/oauth2/device_authorization`,
      grant_types_supported: expect.arrayContaining([grantType]),
    })
  })

  it('openid-client polls by itself until the user has answered', async () => {
    const { ask, configOf, browser, runtime } = await start()
    const asked = await ask({}, 'box')
    const polling = openid.pollDeviceAuthorizationGrant(await configOf('box'), { ...asked, interval: 1 })
    runtime.advance(20_000)
    expect(await answer(await browser(), asked.user_code)).toContain('done=allowed')
    runtime.advance(20_000)
    expect((await polling).claims()).toMatchObject({ sub: 'ada', aud: 'box' })
  })

  it('gets nothing for a no, a code that is too old, and a code of another client', async () => {
    const { ask, poll, browser, runtime } = await start()
    const ada = await browser()
    const refused = await ask()
    expect(await answer(ada, refused.user_code, 'deny')).toContain('done=denied')
    expect(await refusal(poll(refused.device_code))).toBe('access_denied')
    const strange = await ask()
    await answer(ada, strange.user_code)
    expect(await refusal(poll(strange.device_code, 'other'))).toBe('invalid_grant')
    expect(await refusal(poll('A'.repeat(43)))).toBe('invalid_grant')
    const old = await ask()
    runtime.advance(601_000)
    expect((await type(ada, old.user_code)).text).toContain('wrong or too old')
    expect(await refusal(poll(old.device_code))).toBe('expired_token')
  })

  it('asks for no more than its client may have', async () => {
    const { ask, poll, browser } = await start()
    expect(await refusal(ask({ scope: 'openid read' }, 'small'))).toBe('invalid_scope')
    expect(await refusal(ask({ resource: 'https://unknown.example/' }))).toBe('invalid_target')
    expect(await refusal(ask({ scope: 'openid' }, 'partner'))).toBe('unauthorized_client')
    const asked = await ask({ scope: 'read' }, 'small')
    await answer(await browser(), asked.user_code)
    const tokens = await poll(asked.device_code, 'small')
    expect([tokens.scope, tokens.id_token]).toEqual(['read', undefined])
  })
})

describe('who answers', () => {
  it('another user, an administrator who acts as the user, a guest, an API key and a visitor do not', async () => {
    const { ask, poll, browser, auth } = await start({}, [
      apiKeysPlugin({ routes: true }),
      guestPlugin(),
      adminPlugin({ can: ({ admin }) => admin.id === 'eve' }),
      impersonationPlugin({ can: ({ admin }) => admin.id === 'eve' }),
    ])
    const { user_code, device_code } = await ask()
    const { ticket } = await type(await browser(), user_code)
    const eve = await browser('eve')
    expect((await eve.post('/oauth2/device/decide', { ticket, decision: 'allow' })).status).toBe(400)
    const acting = await (auth as unknown as ImpersonationApi).impersonation.start(
      new Request(issuer, { headers: { cookie: eve.cookieHeader() } }),
      { userId: 'ada', reason: 'A user asked for help', returnTo: '/' },
    )
    for (const line of acting.headers.getSetCookie()) {
      const [name, ...value] = line.split(';')[0]!.split('=')
      eve.cookies.set(name!, value.join('='))
    }
    expect((await eve.session())?.user?.['id']).toBe('ada')
    const guest = new Client(auth)
    await guest.post('/guest')
    for (const stranger of [eve, guest, new Client(auth)]) {
      expect((await stranger.get('/oauth2/device')).headers.get('location') ?? '').toContain('/signin')
      expect((await stranger.post('/oauth2/device', { user_code })).headers.get('location') ?? '').toContain('/signin')
      expect((await stranger.post('/oauth2/device/decide', { ticket, decision: 'allow' })).headers.get('location') ?? '').not.toContain(
        'done=allowed',
      )
    }
    const key = await (auth as unknown as ApiKeysApi).apiKeys.create({ userId: 'ada' }, { name: 'k' })
    const byKey = await auth.handler(new Request(`${issuer}/oauth2/device`, { headers: { 'x-api-key': key.key } }))
    expect(byKey.headers.get('location') ?? '').toContain('/signin')
    expect(await refusal(poll(device_code))).toMatch(/authorization_pending|slow_down/)
  })

  it('of several answers one counts, from any browser', async () => {
    const { ask, poll, browser, runtime } = await start()
    const [ada, eve] = [await browser(), await browser('eve')]
    const { user_code, device_code } = await ask()
    const tickets = await Promise.all([ada, eve, ada].map(async (one) => [one, (await type(one, user_code)).ticket] as const))
    const answers = await Promise.all(
      tickets.map(([one, ticket], at) => one.post('/oauth2/device/decide', { ticket, decision: at === 2 ? 'deny' : 'allow' })),
    )
    expect(answers.filter(({ headers }) => headers.get('location')?.includes('done='))).toHaveLength(1)
    runtime.advance(6_000)
    expect([await refusal(poll(device_code)), await refusal(poll(device_code))]).not.toContain('authorization_pending')
  })

  it('cannot try codes without end, and a device cannot ask for them without end', async () => {
    const { ask, browser, auth } = await start()
    const ada = await browser()
    for (let tries = 0; tries < 10; tries++) expect((await type(ada, 'BBBB-BBBB')).text).toContain('wrong or too old')
    const { user_code } = await ask()
    expect((await type(ada, user_code)).text).toContain('too many wrong codes')
    const request = () =>
      new Request(`${issuer}/oauth2/device_authorization`, { method: 'POST', body: new URLSearchParams({ client_id: 'tv' }) })
    const statuses: number[] = []
    for (let tries = 0; tries < 61; tries++) statuses.push((await auth.handler(request(), { clientAddress: '203.0.113.9' })).status)
    expect([statuses.slice(0, 60).every((status) => status === 200), statuses[60]]).toEqual([true, 429])
  })

  it('learns by mail that a device was let in, also beside deviceFlowPlugin', async () => {
    const mails: { to: string; text: string }[] = []
    const { ask, browser } = await start({}, [
      mailPlugin({ transport: { send: async (mail) => void mails.push({ to: String(mail.to), text: mail.text }) }, from: 'a@example.com' }),
      bearerPlugin({ apps: [{ id: 'app', name: 'App', redirectUris: ['https://app.example/in'], scopes: ['read'] }] }),
      deviceFlowPlugin({ apps: ['app'] }),
    ])
    await answer(await browser(), (await ask()).user_code)
    await expect.poll(() => mails.length).toBe(1)
    expect(mails[0]).toMatchObject({ to: expect.stringContaining('ada@example.com'), text: expect.stringContaining('Television <tv>') })
  })
})

describe('an approval', () => {
  const endings: Record<string, (host: World) => Promise<unknown>> = {
    'a password reset or a ban': ({ end }) => end('ada', 'ban'),
    'the deletion of the user': ({ auth }) => auth.users.erase({ userId: 'ada' }),
  }
  it.each(Object.entries(endings))('opens nothing after %s', async (_, end) => {
    const host = await start()
    const asked = await host.ask()
    await answer(await host.browser(), asked.user_code)
    await end(host)
    expect(await refusal(host.poll(asked.device_code))).toBe('invalid_grant')
  })

  it('opens nothing after the session ended between the page and the answer', async () => {
    const { ask, poll, browser, auth } = await start()
    const ada = await browser()
    const asked = await ask()
    const { ticket } = await type(ada, asked.user_code)
    const stolen = new Client(auth)
    for (const [name, value] of ada.cookies) stolen.cookies.set(name, value)
    await ada.post('/signout')
    expect((await stolen.post('/oauth2/device/decide', { ticket, decision: 'allow' })).headers.get('location') ?? '').not.toContain('done=')
    expect(await refusal(poll(asked.device_code))).toMatch(/authorization_pending|slow_down/)
  })

  it('opens nothing after the user took the access of the client back, before the device has polled', async () => {
    const { ask, poll, browser, auth } = await start()
    const asked = await ask()
    await answer(await browser(), asked.user_code)
    expect(await auth.authorizationServer.disconnect('ada', 'tv')).toBe(true)
    expect(await refusal(poll(asked.device_code))).toBe('invalid_grant')
    // What another client was allowed stays.
    const [one, other] = [await ask(), await ask({}, 'other')]
    const ada = await browser()
    for (const { user_code } of [one, other]) await answer(ada, user_code)
    await auth.authorizationServer.disconnect('ada', 'other')
    expect((await poll(one.device_code)).access_token).toBeTruthy()
    expect(await refusal(poll(other.device_code, 'other'))).toBe('invalid_grant')
  })

  it('is of no client that was disabled or deleted before the answer, or before the poll', async () => {
    const { ask, poll, browser, auth } = await start()
    const { clients: store } = auth.authorizationServer
    const made = await store.create({ client_name: 'Kiosk', grant_types: grants, token_endpoint_auth_method: 'none' })
    const ada = await browser()
    const [one, other] = [await ask({}, made.client_id), await ask({}, made.client_id)]
    await answer(ada, one.user_code)
    const { ticket } = await type(ada, other.user_code)
    await store.disable(made.client_id)
    expect(await (await ada.post('/oauth2/device/decide', { ticket, decision: 'allow' })).text()).toContain('wrong or too old')
    expect(await refusal(poll(one.device_code, made.client_id))).toBe('invalid_client')
    await store.delete(made.client_id)
    expect((await type(ada, other.user_code)).text).toContain('wrong or too old')
  })

  it('gives thirty polls at once one grant, and no error of the server', async () => {
    const { ask, browser, post, data } = await start()
    const asked = await ask()
    await answer(await browser(), asked.user_code)
    const fields = { grant_type: grantType, device_code: asked.device_code, client_id: 'tv' }
    const answers = await Promise.all(Array.from({ length: 30 }, () => post('/oauth2/token', fields)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(29).fill(400)])
    expect(data.records?.get('oauthGrant')?.size).toBe(1)
  })

  it('gives the grant of a connected app, which the user takes back', async () => {
    const { ask, poll, browser, auth, configOf } = await start()
    const asked = await ask()
    await answer(await browser(), asked.user_code)
    const tokens = await poll(asked.device_code)
    expect(await auth.authorizationServer.connectedApps('ada')).toMatchObject([{ clientId: 'tv' }])
    await auth.authorizationServer.disconnect('ada', 'tv')
    expect(await refusal(openid.refreshTokenGrant(await configOf('tv'), tokens.refresh_token!))).toBe('invalid_grant')
  })

  it('gives no scope that needs a fresh proof, that only an administrator can allow, or that the user lost', async () => {
    const lost = new Set<string>()
    const { ask, poll, browser } = await start({
      scopeProof: { write: { maxAge: 60 } },
      can: ({ scope }: { scope: string }) => !lost.has(scope),
    } as never)
    const ada = await browser()
    const one = await ask({ scope: 'openid read write' })
    await answer(ada, one.user_code)
    expect((await poll(one.device_code)).scope?.split(' ').toSorted()).toEqual(['openid', 'read'])
    const other = await ask({ scope: 'openid read' })
    await answer(ada, other.user_code)
    lost.add('read')
    expect((await poll(other.device_code)).scope).toBe('openid')
  })
})

it('clients that register themselves do not get the grant type, and without the option there is no endpoint', async () => {
  const host = await world({ registration: {}, clients })
  const made = await host.auth.handler(
    new Request(`${issuer}/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'TV', redirect_uris: ['https://tv.example/in'], grant_types: ['authorization_code', grantType] }),
    }),
  )
  expect(((await made.json()) as { grant_types: string[] }).grant_types).toEqual(['authorization_code'])
  const answerOf = async (path: string, method: string) => (await host.auth.handler(new Request(issuer + path, { method }))).status
  expect([await answerOf('/oauth2/device_authorization', 'POST'), await answerOf('/oauth2/device', 'GET')]).toEqual([400, 400])
})
