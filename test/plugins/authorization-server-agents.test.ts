/** Agents ask their owner by CIBA, and users manage them by the typed client. */
import { createAuthClient } from 'authkernel/client'
import type { Kernel } from 'authkernel/kernel'
import { type AgentsApi, agentsPlugin, type AgentsClient } from 'authkernel/plugins/agents'
import type { Client } from '../_setup.ts'
import { describe, expect, it } from 'vitest'
import { api, origin, ticketOf, world } from './_authorization-server.ts'

const grantType = 'urn:openid:params:grant-type:ciba'
type Answer = Record<string, string> & { status: number }

async function start(options: Partial<Parameters<typeof agentsPlugin>[0]> = {}) {
  let kernel: Kernel | undefined
  const host = await world({ ciba: {} }, {}, [
    { name: 'inside', setup: (given) => void (kernel = given) },
    agentsPlugin({ scopes: ['read', 'write', 'elsewhere'], approve: ['write'], budget: { requests: 20, days: 10 }, ...options }),
  ])
  const auth = host.auth as typeof host.auth & AgentsApi & AgentsClient
  const agent = await auth.agents.create({ userId: 'ada' }, { name: 'Book <keeper>', scopes: ['read', 'write', 'elsewhere'] })
  const call = async (
    path: string,
    form: Record<string, string>,
    { id = agent.id, credential = agent.credential } = {},
  ): Promise<Answer> => {
    const answer = await host.post(path, form, { authorization: `Basic ${btoa(`agent_${id}:${credential}`)}` })
    return { status: answer.status, ...((await answer.json()) as Record<string, string>) } as Answer
  }
  const ask = (form: Record<string, string> = {}, who: Parameters<typeof call>[2] = {}) =>
    call('/oauth2/bc-authorize', { scope: 'write', binding_message: 'Pay 20 EUR', ...form }, who)
  const poll = (auth_req_id: string) => call('/oauth2/token', { grant_type: grantType, auth_req_id })
  const decide = async (browser: Client, decision: 'allow' | 'deny' = 'allow') => {
    const account = await (await browser.get('/account')).text()
    const path = /href="([^"]*\/oauth2\/approve\?request=[^"]+)"/.exec(account)?.[1] ?? ''
    const page = path === '' ? '' : await (await browser.get(path)).text()
    return { page, answer: await browser.post('/oauth2/approve', { ticket: ticketOf(page), decision }) }
  }
  const use = async (token: string, scopes = ['write']) =>
    auth.authorizationServer.authorize(new Request(api, { headers: { authorization: `Bearer ${token}` } }), { resource: api, scopes })
  /** A token that ada allowed. */
  const token = async (): Promise<string> => {
    const { auth_req_id: id } = await ask()
    host.runtime.advance(6_000)
    await decide(await host.browser())
    return (await poll(id!))['access_token']!
  }
  const inside = () => kernel!.contextOf({ job: 'test' })
  return { ...host, auth, inside, agent, call, ask, poll, decide, use, token }
}

describe('an agent asks its owner by CIBA', () => {
  it('who sees agent, rights and message, allows, and the agent gets one token that names both', async () => {
    const { ask, poll, decide, use, browser, agent, auth, runtime } = await start()
    const asked = await ask()
    expect(asked).toMatchObject({ status: 200, auth_req_id: expect.any(String), interval: 5 })
    expect(await poll(asked['auth_req_id']!)).toMatchObject({ error: 'authorization_pending' })
    runtime.advance(6_000)
    const { page, answer } = await decide(await browser())
    expect(page).toContain('Book &lt;keeper&gt;')
    expect(page).toContain('Pay 20 EUR')
    expect(page).toContain('write')
    expect(answer.headers.get('location')).toContain('done=allowed')
    const made = await poll(asked['auth_req_id']!)
    expect(made).toMatchObject({ status: 200, token_type: 'Bearer', scope: 'write' })
    expect(made).not.toHaveProperty('refresh_token')
    expect(made).not.toHaveProperty('id_token')
    const { caller } = await use(made['access_token']!)
    expect(caller).toMatchObject({ userId: 'ada', actors: [`agent_${agent.id}`], scopes: ['write'] })
    expect(await poll(asked['auth_req_id']!)).toMatchObject({ error: 'invalid_grant' })
    // It is no connected app: the owner finds it among the agents.
    expect(await auth.authorizationServer.connectedApps('ada')).toEqual([])
  })

  it('and is asked each time; a no gives nothing', async () => {
    const { ask, poll, decide, token, browser, runtime } = await start()
    await token()
    const { auth_req_id: id } = await ask()
    runtime.advance(6_000)
    expect(await poll(id!)).toMatchObject({ error: 'authorization_pending' })
    await decide(await browser(), 'deny')
    runtime.advance(6_000)
    expect(await poll(id!)).toMatchObject({ error: 'access_denied' })
  })

  it('and no other user: hints of others, a wrong credential, and other grant types give nothing', async () => {
    const { ask, call, agent, auth, decide, browser } = await start()
    for (const hint of [{ login_hint: 'eve@example.com' }, { login_hint_token: 'x' }, { id_token_hint: 'x' }])
      expect(await ask(hint)).toMatchObject({ status: 400, error: 'unknown_user_id' })
    expect(await ask({ login_hint: 'ada@example.com' })).toMatchObject({ status: 200 })
    const other = await auth.agents.create({ userId: 'eve' }, { name: 'Other', scopes: ['read'] })
    for (const who of [
      { credential: other.credential },
      { credential: 'x' },
      { credential: agent.credential.slice(0, -1) },
      { id: other.id },
      { id: '0'.repeat(32) },
      { id: '../x' },
    ])
      expect(await ask({}, who), JSON.stringify(who)).toMatchObject({ status: 401, error: 'invalid_client' })
    for (const grant_type of ['client_credentials', 'authorization_code', 'refresh_token'])
      expect(await call('/oauth2/token', { grant_type, code: 'x', code_verifier: 'x', refresh_token: 'x', scope: 'write' })).toMatchObject({
        error: 'unauthorized_client',
      })
    expect((await decide(await browser('eve'))).page).toBe('')
  })

  it('for scopes that it has at a resource alone', async () => {
    const { ask, auth, agent } = await start()
    for (const scope of ['openid write', 'sign', 'elsewhere', '', 'unknown'])
      expect(await ask({ scope }), scope).toMatchObject({ status: 400, error: 'invalid_scope' })
    await auth.agents.update({ userId: 'ada' }, agent.id, { scopes: ['read'] })
    expect(await ask({ scope: 'write' })).toMatchObject({ error: 'invalid_scope' })
  })

  it('with a proof that is new enough', async () => {
    const { ask, decide, browser, runtime, poll } = await start()
    const { auth_req_id: id } = await ask({ requested_expiry: '600' })
    const ada = await browser()
    runtime.advance(301_000)
    const { answer } = await decide(ada)
    expect(answer.headers.get('location')).not.toContain('done=')
    expect(await poll(id!)).toMatchObject({ error: 'authorization_pending' })
  })

  it('within its budget: each question is one request, polls are free', async () => {
    const { ask, poll, auth } = await start({ budget: { requests: 2, days: 1 } })
    const first = await ask()
    for (let count = 0; count < 5; count++) await poll(first['auth_req_id']!)
    expect((await auth.agents.list({ userId: 'ada' }))[0]!.left).toBe(1)
    expect(await ask()).toMatchObject({ status: 200 })
    expect(await ask()).toMatchObject({ status: 403, error: 'access_denied' })
  })

  it.each(['stop', 'delete', 'rotate', 'update', 'stopAny', 'ban', 'disconnect of the row'] as const)(
    'and its tokens and questions end at once with: %s',
    async (what) => {
      const { ask, decide, poll, use, token, auth, agent, browser, runtime, end } = await start()
      const text = await token()
      const { auth_req_id: open } = await ask()
      const { auth_req_id: allowed } = await ask({ scope: 'read' })
      runtime.advance(6_000)
      await decide(await browser())
      expect((await use(text)).caller).toBeDefined()
      const of = { userId: 'ada' }
      if (what === 'stop') await auth.agents.stop(of, agent.id)
      if (what === 'delete') await auth.agents.delete(of, agent.id)
      if (what === 'rotate') await auth.agents.rotate(of, agent.id)
      if (what === 'update') await auth.agents.update(of, agent.id, { scopes: ['read'] })
      if (what === 'stopAny') await auth.agents.stopAny(agent.id, { reason: 'odd' })
      if (what === 'ban') await end('ada', 'ban')
      if (what === 'disconnect of the row') await auth.authorizationServer.disconnect('ada', `agent_${agent.id}`)
      expect((await use(text)).response?.status).toBe(401)
      for (const id of [open, allowed]) expect((await poll(id!)).status).toBeGreaterThanOrEqual(400)
    },
  )

  it('and a token of an agent whose row says that it is stopped is none, also where no listener ran', async () => {
    const { use, token, agent, inside } = await start()
    const text = await token()
    const ctx = await inside()
    await ctx.records('agent').update(agent.id, { stopped: 'owner' })
    expect((await use(text)).response?.status).toBe(401)
  })
})

describe('client.agents', () => {
  async function client(host: Awaited<ReturnType<typeof start>>, browser: Client) {
    const sender = ((url: string | URL | Request, init?: RequestInit) => {
      const headers = new Headers(init?.headers)
      headers.set('cookie', browser.cookieHeader())
      headers.set('origin', origin)
      return host.auth.handler(new Request(url, { ...init, headers }))
    }) as typeof fetch
    return createAuthClient<typeof host.auth>({ baseURL: origin, fetch: sender }).agents
  }

  it('lists, makes, renames, limits, stops, starts, rotates and deletes; approves and denies', async () => {
    const host = await start()
    const agents = await client(host, await host.browser())
    expect(await agents.getChoices()).toEqual({
      scopes: ['read', 'write', 'elsewhere'],
      approve: ['write'],
      budget: { requests: 20, days: 10 },
    })
    // The list is in the order of time.
    host.runtime.advance(1)
    const made = await agents.create({ name: 'Second', scopes: ['read', 'write'], budget: { requests: 5 } })
    const { id, credential } = made
    expect(made).toMatchObject({ name: 'Second', left: 5, state: 'running' })
    expect((await agents.list()).map(({ name }) => name)).toEqual(['Book <keeper>', 'Second'])
    expect(JSON.stringify(await agents.list())).not.toContain(credential)
    expect(await agents.rename({ id, name: 'Renamed' })).toMatchObject({ name: 'Renamed', scopes: ['read', 'write'] })
    expect(await agents.setBudget({ id, budget: { requests: 7, days: 1 } })).toMatchObject({ left: 7, requests: 7 })
    const request = () => new Request(`${origin}/api`, { headers: { authorization: `Bearer ${credential}` } })
    const act = (action: string) => host.auth.agents.authorize(request(), { scopes: ['write'], action })
    await act('Pay 1 EUR')
    host.runtime.advance(1)
    await act('Pay 2 EUR')
    const [first, second] = await agents.listApprovals()
    expect([
      await agents.approve({ id: first!.id }),
      await agents.deny({ id: second!.id }),
      await agents.approve({ id: second!.id }),
    ]).toEqual([true, true, false])
    expect([(await act('Pay 1 EUR')).caller?.agentId, (await act('Pay 2 EUR')).response?.status]).toEqual([id, 403])
    expect(await agents.setScopes({ id, scopes: ['read'] })).toMatchObject({ scopes: ['read'] })
    expect((await act('Pay 3 EUR')).response?.status).toBe(403)
    expect([await agents.stop({ id }), await agents.stop({ id })]).toEqual([true, false])
    expect(await agents.start({ id })).toMatchObject({ state: 'running' })
    expect((await agents.rotate({ id })).credential).not.toBe(credential)
    expect((await act('Pay 4 EUR')).response?.status).toBe(401)
    expect(await agents.revoke({ id })).toBe(true)
    await expect(agents.revoke({ id })).rejects.toMatchObject({ status: 404 })
  })

  it('is for the owner alone, signed in himself, and with a new proof where an agent gets more', async () => {
    const host = await start()
    const { id } = host.agent
    const eve = await client(host, await host.browser('eve'))
    for (const work of [
      eve.rename({ id, name: 'Mine' }),
      eve.setScopes({ id, scopes: ['read'] }),
      eve.setBudget({ id }),
      eve.rotate({ id }),
      eve.stop({ id }),
      eve.start({ id }),
      eve.revoke({ id }),
    ])
      await expect(work).rejects.toMatchObject({ status: 404 })
    expect(await eve.list()).toEqual([])
    const ada = await client(host, await host.browser())
    await expect(ada.create({ name: '', scopes: ['read'] })).rejects.toMatchObject({ status: 400 })
    await expect(ada.setScopes({ id, scopes: ['unknown'] })).rejects.toMatchObject({ status: 400 })
    await expect(ada.setScopes({ id, scopes: [] })).rejects.toMatchObject({ status: 400 })
    host.runtime.advance(301_000)
    for (const work of [
      ada.create({ name: 'A', scopes: ['read'] }),
      ada.setScopes({ id, scopes: ['read'] }),
      ada.setBudget({ id }),
      ada.rotate({ id }),
      ada.start({ id }),
    ])
      await expect(work).rejects.toMatchObject({ status: 403, error: 'StepUpRequired' })
    expect(await ada.rename({ id, name: 'Still mine' })).toMatchObject({ name: 'Still mine' })
    expect(await ada.stop({ id })).toBe(true)
  })

  it('gives no right that the owner does not have', async () => {
    const host = await start({ can: ({ user, scope }) => user.id === 'ada' || scope !== 'write' })
    const eve = await client(host, await host.browser('eve'))
    const made = await eve.create({ name: 'A', scopes: ['read'] })
    await expect(eve.setScopes({ id: made.id, scopes: ['read', 'write'] })).rejects.toMatchObject({ status: 403 })
  })
})
