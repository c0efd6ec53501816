/** Backchannel authentication (CIBA): a call centre asks, the user answers on the pages of the site, and no other session can. */
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { adminPlugin } from 'authkernel/plugins/admin'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import type { CibaOptions } from 'authkernel/plugins/authorization-server'
import { guestPlugin } from 'authkernel/plugins/guest'
import { type ImpersonationApi, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { mailPlugin } from 'authkernel/plugins/mail'
import { Client } from '../_setup.ts'
import { begin, clients, discover, issuer, redirect, refusal, secret, ticketOf, visit, world, type World } from './_authorization-server.ts'

const grantType = 'urn:openid:params:grant-type:ciba'
const pingUri = 'https://desk.example/ping'
const desk = (client_id: string, more: object = {}) => ({
  client_id,
  client_name: `Desk <${client_id}>`,
  client_secret: secret,
  grant_types: [grantType as typeof grantType, 'refresh_token' as const],
  ...more,
})

async function start(ciba: CibaOptions = {}, plugins: Parameters<typeof world>[2] = []) {
  const host = await world(
    {
      clients: [
        ...clients!,
        desk('desk'),
        desk('other'),
        desk('pinged', { backchannel_token_delivery_mode: 'ping', backchannel_client_notification_endpoint: pingUri }),
        desk('coded', { backchannel_user_code_parameter: true }),
      ],
      ciba,
    },
    {},
    plugins,
  )
  const configOf = (id: string) => discover(host.auth, id, openid.ClientSecretBasic(secret))
  const ask = async (params: Record<string, string> = {}, id = 'desk') =>
    openid.initiateBackchannelAuthentication(await configOf(id), { scope: 'openid read', login_hint: 'ada@example.com', ...params })
  const poll = async (auth_req_id: string, id = 'desk', params: Record<string, string> = {}) =>
    openid.genericGrantRequest(await configOf(id), grantType, { auth_req_id, ...params })
  return { ...host, configOf, ask, poll }
}

/** The page of the first request that waits, as the account page links it. */
async function open(browser: Client): Promise<{ text: string; ticket: string }> {
  const account = await (await browser.get('/account')).text()
  const path = /href="([^"]*\/oauth2\/approve\?request=[^"]+)"/.exec(account)?.[1]
  const text = path === undefined ? '' : await (await browser.get(path)).text()
  return { text, ticket: ticketOf(text) }
}
async function answer(browser: Client, decision: 'allow' | 'deny' = 'allow'): Promise<Response> {
  return browser.post('/oauth2/approve', { ticket: (await open(browser)).ticket, decision })
}

describe('poll', () => {
  it('openid-client asks, the user sees who and why, allows, and the client gets tokens once', async () => {
    const { ask, poll, browser, runtime, configOf } = await start()
    const ada = await browser()
    const asked = await ask({ binding_message: 'W4SCT <b>' })
    expect(asked).toMatchObject({ expires_in: 300, interval: 5 })
    expect(await refusal(poll(asked.auth_req_id))).toBe('authorization_pending')
    expect(await refusal(poll(asked.auth_req_id))).toBe('slow_down')
    const { text } = await open(ada)
    expect([text.includes('W4SCT &lt;b&gt;'), text.includes('Desk &lt;desk&gt;'), text.includes('<b>W4')]).toEqual([true, true, false])
    expect((await answer(ada)).headers.get('location')).toContain('done=allowed')
    runtime.advance(11_000)
    const polls = await Promise.allSettled(Array.from({ length: 8 }, () => poll(asked.auth_req_id)))
    const given = polls.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(given).toHaveLength(1)
    const [tokens] = given
    expect(tokens!.claims()).toMatchObject({ sub: 'ada', aud: 'desk', auth_time: expect.any(Number) })
    expect(await openid.tokenIntrospection(await configOf('desk'), tokens!.access_token)).toMatchObject({ active: true, sub: 'ada' })
    expect(tokens!.refresh_token).toBeTruthy()
    expect(await refusal(poll(asked.auth_req_id))).toBe('invalid_grant')
    expect((await configOf('desk')).serverMetadata()).toMatchObject({
      backchannel_authentication_endpoint: `${issuer}/oauth2/bc-authorize`,
      backchannel_token_delivery_modes_supported: ['poll', 'ping'],
    })
  })

  it('a no, a request that is too old, and one of another client give nothing', async () => {
    const { ask, poll, browser, runtime } = await start()
    const ada = await browser()
    const refused = await ask()
    expect((await answer(ada, 'deny')).headers.get('location')).toContain('done=denied')
    expect(await refusal(poll(refused.auth_req_id))).toBe('access_denied')
    const strange = await ask()
    await answer(ada)
    expect(await refusal(poll(strange.auth_req_id, 'other'))).toBe('invalid_grant')
    const old = await ask({ requested_expiry: '60' })
    expect(old.expires_in).toBe(60)
    runtime.advance(61_000)
    expect(await refusal(poll(old.auth_req_id))).toBe('expired_token')
    expect((await open(ada)).ticket).toBe('')
  })
})

it('an answer opens nothing after the user took the access of the client back, and a code neither', async () => {
  const { ask, poll, browser, runtime, auth, post } = await start()
  const ada = await browser()
  const asked = await ask()
  await answer(ada)
  await auth.authorizationServer.disconnect('ada', 'desk')
  runtime.advance(6_000)
  expect(await refusal(poll(asked.auth_req_id))).toBe('invalid_grant')
  const config = await discover(auth)
  const begun = await begin(config)
  const code = new URL(await visit(ada, begun.url)).searchParams.get('code')!
  await auth.authorizationServer.disconnect('ada', 'partner')
  const fields = { grant_type: 'authorization_code', code, code_verifier: begun.verifier, redirect_uri: redirect }
  expect((await post('/oauth2/token', fields, { authorization: `Basic ${btoa(`partner:${secret}`)}` })).status).toBe(400)
})

describe('who answers', () => {
  it('another user, an administrator who acts as the user, a guest, an API key and a visitor do not', async () => {
    const { ask, poll, browser, auth } = await start({}, [
      apiKeysPlugin({ routes: true }),
      guestPlugin(),
      adminPlugin({ can: ({ admin }) => admin.id === 'eve' }),
      impersonationPlugin({ can: ({ admin }) => admin.id === 'eve' }),
    ])
    const ada = await browser()
    const { auth_req_id } = await ask()
    const account = await (await ada.get('/account')).text()
    const path = /href="([^"]*\/oauth2\/approve\?request=[^"]+)"/.exec(account)![1]!
    const { ticket } = await open(ada)
    const eve = await browser('eve')
    expect((await eve.get(path)).status).toBe(404)
    expect((await eve.post('/oauth2/approve', { ticket, decision: 'allow' })).status).toBe(400)
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
      expect((await stranger.get(path)).headers.get('location') ?? '').toContain('/signin')
      expect((await stranger.post('/oauth2/approve', { ticket, decision: 'allow' })).headers.get('location') ?? '').not.toContain(
        'done=allowed',
      )
    }
    const key = await (auth as unknown as ApiKeysApi).apiKeys.create({ userId: 'ada' }, { name: 'k' })
    const byKey = await auth.handler(new Request(new URL(path, issuer), { headers: { 'x-api-key': key.key } }))
    expect(byKey.headers.get('location') ?? '').toContain('/signin')
    expect(await refusal(poll(auth_req_id))).toBe('authorization_pending')
  })

  it('of several answers one counts', async () => {
    const { ask, browser, poll } = await start()
    const ada = await browser()
    const { auth_req_id } = await ask()
    const { ticket } = await open(ada)
    const answers = await Promise.all(
      ['allow', 'deny', 'allow', 'deny'].map((decision) => ada.post('/oauth2/approve', { ticket, decision })),
    )
    expect(answers.filter((one) => one.headers.get('location')?.includes('done=')).length).toBe(1)
    const after = await poll(auth_req_id).then(
      () => 'tokens',
      (error: unknown) => (error as { error: string }).error,
    )
    expect(['tokens', 'access_denied']).toContain(after)
  })

  it.each(['before the answer', 'after it'] as const)('access that ends %s ends the request', async (when) => {
    const { ask, poll, browser, end } = await start()
    const ada = await browser()
    const { auth_req_id } = await ask()
    if (when === 'after it') await answer(ada)
    await end('ada', 'signOutEverywhere')
    expect(await refusal(poll(auth_req_id))).toBe('invalid_grant')
  })

  it('the second factor is asked for where the client asks for it', async () => {
    const { ask, poll, browser } = await start()
    const ada = await browser()
    const { auth_req_id } = await ask({ acr_values: 'urn:authkernel:acr:2fa' })
    expect((await answer(ada)).headers.get('location')).not.toContain('done=')
    expect(await refusal(poll(auth_req_id))).toBe('authorization_pending')
  })
})

describe('ping, codes and notices', () => {
  it('a client with ping is called at its address, with its token and no other', async () => {
    const { ask, poll, browser, posts } = await start()
    expect(await refusal(ask({}, 'pinged'))).toBe('invalid_request')
    const { auth_req_id } = await ask({ client_notification_token: 'n'.repeat(32) }, 'pinged')
    expect(posts).toEqual([])
    await answer(await browser())
    await expect.poll(() => posts).toEqual([{ url: pingUri, body: JSON.stringify({ auth_req_id }) }])
    expect((await poll(auth_req_id, 'pinged')).claims()?.sub).toBe('ada')
  })

  it('a user code is compared, and tried a few times only', async () => {
    const { ask } = await start({ checkUserCode: ({ code }) => code === '1234' })
    expect(await refusal(ask({}, 'coded'))).toBe('missing_user_code')
    expect((await ask({ user_code: '1234' }, 'coded')).auth_req_id).toBeTruthy()
    for (let time = 0; time < 10; time++) expect(await refusal(ask({ user_code: '0000' }, 'coded'))).toBe('invalid_user_code')
    expect(await refusal(ask({ user_code: '1234' }, 'coded'))).toBe('invalid_user_code')
  })

  it('the host tells the user; without that a mail does', async () => {
    const told: { user: string; url: string; binding: string | null }[] = []
    const own = await start({
      findUser: ({ hint }) => (hint === 'customer 7' ? 'eve' : undefined),
      notify: ({ user, url, binding }) => void told.push({ user: String(user.id), url, binding }),
    })
    await own.ask({ login_hint: 'customer 7', binding_message: 'X1' })
    await expect.poll(() => told).toEqual([{ user: 'eve', url: expect.stringContaining('/oauth2/approve?request='), binding: 'X1' }])
    const mails: { to: string; text: string }[] = []
    const mailing = await start({}, [
      mailPlugin({ transport: { send: async (mail) => void mails.push({ to: String(mail.to), text: mail.text }) }, from: 'a@example.com' }),
    ])
    await mailing.ask()
    await expect.poll(() => mails.length).toBe(1)
    expect([mails[0]!.to.includes('ada@example.com'), mails[0]!.text.includes('/oauth2/approve?request=')]).toEqual([true, true])
  })
})

describe('bad input', () => {
  it.each([
    [{ login_hint: 'nobody@example.com' }, 'unknown_user_id'],
    [{ login_hint: 'x'.repeat(300) }, 'unknown_user_id'],
    [{ id_token_hint: 'a.b.c' }, 'invalid_request'],
    [{ binding_message: 'x'.repeat(61) }, 'invalid_binding_message'],
    [{ binding_message: 'a\u202eb' }, 'invalid_binding_message'],
    [{ requested_expiry: '-1' }, 'invalid_request'],
    [{ scope: 'read' }, 'invalid_scope'],
    [{ resource: 'https://unknown.example/' }, 'invalid_target'],
    [{ authorization_details: '[{"type":"x"}]' }, 'invalid_authorization_details'],
  ] as [Record<string, string>, string][])('%j: %s', async (params, error) => {
    const { ask } = await start()
    expect(await refusal(ask(params))).toBe(error)
  })

  it('an address that is not verified names no user, and a user is not asked without end', async () => {
    const { ask, store } = await start()
    await store.createUser!({ id: 'mallory', email: 'mallory@example.com', emailVerified: null, name: 'm' } as never)
    expect(await refusal(ask({ login_hint: 'mallory@example.com' }))).toBe('unknown_user_id')
    for (let time = 0; time < 10; time++) await ask()
    expect(await refusal(ask())).toBe('temporarily_unavailable')
  })

  it('clients without the grant type, public ones and strangers may not ask', async () => {
    const { configOf, post } = await start()
    const partner = openid.initiateBackchannelAuthentication(await configOf('partner'), { scope: 'openid', login_hint: 'ada@example.com' })
    expect(await refusal(partner)).toBe('unauthorized_client')
    expect((await post('/oauth2/bc-authorize', { client_id: 'own', scope: 'openid', login_hint: 'ada@example.com' })).status).toBe(400)
    expect((await post('/oauth2/bc-authorize', { client_id: 'desk', scope: 'openid', login_hint: 'ada@example.com' })).status).toBe(401)
    const without: World = await world()
    const unknown = await without.post('/oauth2/bc-authorize', {})
    expect([unknown.status, (await unknown.text()).includes('client_id')]).toEqual([400, false])
  })
})
