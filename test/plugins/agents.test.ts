/** Agents: credentials, scopes, budgets under races, approvals, the kill switch, and the end with the access of the owner. */
import { createAuth } from 'authkernel'
import type { AuditRecord } from 'authkernel/plugins/audit'
import { auditPlugin } from 'authkernel/plugins/audit'
import type { Adapter, AnyContext, AuthConfig, EndReason, Kernel, Plugin } from 'authkernel/kernel'
import { endAccess } from 'authkernel/kernel/users'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AgentsOptions, agentsPlugin, StepUpRequired } from 'authkernel/plugins/agents'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const origin = 'http://localhost:3000'
const scopes = ['notes.read', 'notes.write', 'pay']

async function world(options: Partial<AgentsOptions> = {}, { adapter, config = {} }: { adapter?: Adapter; config?: AuthConfig } = {}) {
  const base = baseConfig({
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
    session: { strategy: 'database' },
    ...config,
  })
  const store = (adapter ?? memoryAdapter()) as ReturnType<typeof memoryAdapter>
  const records: AuditRecord[] = []
  let inside: Kernel | undefined
  const probe: Plugin = { name: 'probe', setup: (kernel) => void (inside = kernel) }
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(auditPlugin({ sink: (some) => void records.push(...some), pause: 1 }))
    .use(impersonationPlugin({ can: () => true }))
    .use(probe)
    .use(agentsPlugin({ scopes, approve: ['pay'], budget: { requests: 100, days: 10 }, ...options }))
  await auth.ready()
  for (const id of ['ada', 'eve'])
    if (!(await store.getUser!(id))) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const browser = async (user = 'ada') => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  const requestOf = (credential: string) => new Request(`${origin}/api`, { headers: { authorization: `Bearer ${credential}` } })
  const act = async (credential: string, demand = { scopes: ['notes.read'] } as { scopes: string[]; action?: string }) => {
    const { caller, response } = await auth.agents.authorize(requestOf(credential), demand)
    return (
      caller ?? { status: response.status, ...((await response.json()) as { error: string; approval?: string; approval_url?: string }) }
    )
  }
  const asBrowser = (client: Client) => new Request(`${origin}/account`, { headers: { cookie: client.cookieHeader() } })
  const end = async (userId: string, reason: EndReason) => endAccess(await inside!.contextOf({ job: 'test' }), { userId }, 'test', reason)
  const make = (more: object = {}) => auth.agents.create({ userId: 'ada' }, { name: 'Bookkeeper', scopes, ...more })
  const audit = async () => {
    await auth.audit.flush()
    return records
  }
  const job = (work: (ctx: AnyContext) => Promise<void>) => inside!.job({ job: 'test' }, work)
  return { auth, browser, requestOf, act, asBrowser, end, job, make, audit, runtime: base.runtime, log: base.logger, store }
}

describe('an agent', () => {
  it('acts for its owner with its own credential, which is stored as a hash, and the audit log names both', async () => {
    const { make, act, auth, requestOf, audit } = await world()
    const agent = await make()
    expect(agent.credential).toMatch(/^agent_[0-9a-f]{32}_[\w-]{43}$/)
    expect(await act(agent.credential)).toEqual({
      agentId: agent.id,
      name: 'Bookkeeper',
      ownerId: 'ada',
      scopes: ['notes.read', 'notes.write'],
    })
    expect(await auth.session(requestOf(agent.credential))).toMatchObject({
      user: { id: 'ada' },
      agent: { id: agent.id, ownerId: 'ada', scopes: ['notes.read', 'notes.write'] },
    })
    const secret = agent.credential.slice(-43)
    expect(JSON.stringify(await auth.agents.list({ userId: 'ada' }))).not.toContain(secret)
    const acted = (await audit()).find(({ name }) => name === 'agent.acted')
    expect(acted).toMatchObject({
      actor: { type: 'machine', id: agent.id },
      subject: { id: 'ada' },
      target: { agent: agent.id, scope: 'notes.read' },
    })
    expect(JSON.stringify(await audit())).not.toContain(secret)
  })

  it.each([
    ['an unknown id', (text: string) => text.replace(/^agent_./, (head) => `agent_${head.endsWith('0') ? '1' : '0'}`)],
    ['a wrong secret', (text: string) => `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`],
    ['half of it', (text: string) => text.slice(0, 60)],
    ['two of them', (text: string) => `${text} ${text}`],
  ])('with %s is refused, and a cookie beside it does not count', async (_name, change) => {
    const { make, act, browser, auth } = await world()
    const { credential } = await make()
    const sent = change(credential)
    expect(await act(sent)).toMatchObject({ status: 401, error: 'invalid_token' })
    const cookie = (await browser()).cookieHeader()
    expect(await auth.session(new Request(`${origin}/x`, { headers: { cookie, authorization: `Bearer ${sent}` } }))).toBeNull()
  })

  it('has the scopes that its owner has now, and a right that is not among them is refused', async () => {
    const rights = new Set(scopes)
    const { make, act, auth } = await world({ can: ({ user, scope }) => user.id === 'ada' && rights.has(scope) })
    const { credential } = await make({ scopes: ['notes.read'] })
    expect(await act(credential, { scopes: ['notes.write'] })).toMatchObject({ status: 403, error: 'insufficient_scope' })
    rights.delete('notes.read')
    expect(await act(credential)).toMatchObject({ status: 403, error: 'insufficient_scope' })
    await expect(auth.agents.create({ userId: 'ada' }, { name: 'x', scopes: ['notes.read'] })).rejects.toMatchObject({ status: 403 })
  })

  it('gets a new credential; the one before ends at once, or after `overlap`', async () => {
    const { make, act, auth } = await world()
    const first = await make()
    const second = (await auth.agents.rotate({ userId: 'ada' }, first.id))!
    expect([await act(first.credential), await act(second.credential)]).toMatchObject([{ status: 401 }, { agentId: first.id }])
    const late = await world({ overlap: 60 })
    const old = await late.make()
    await late.auth.agents.rotate({ userId: 'ada' }, old.id)
    expect(await late.act(old.credential)).toMatchObject({ agentId: old.id })
    late.runtime.advance(61_000)
    expect(await late.act(old.credential)).toMatchObject({ status: 401 })
  })

  it('of thirty rotations at once one gives a credential', async () => {
    const { make, auth, act } = await world()
    const { id } = await make()
    const made = (await Promise.all(Array.from({ length: 30 }, () => auth.agents.rotate({ userId: 'ada' }, id)))).filter(
      (one) => one !== null,
    )
    const alive = await Promise.all(made.map(async ({ credential }) => 'agentId' in (await act(credential))))
    expect(alive.filter(Boolean)).toHaveLength(1)
  })
})

describe('a budget', () => {
  it('thirty requests at once spend no more than it has, and one request spends one however often it is read', async () => {
    const { make, act, auth, requestOf } = await world()
    const { credential, id } = await make({ budget: { requests: 7 } })
    const answers = await Promise.all(Array.from({ length: 30 }, () => act(credential)))
    expect(answers.filter((answer) => 'agentId' in answer)).toHaveLength(7)
    expect(answers.filter((answer) => 'status' in answer && answer.status === 429)).toHaveLength(23)
    await expect(auth.session(requestOf(credential))).rejects.toMatchObject({ status: 429 })
    expect(await auth.agents.renew({ userId: 'ada' }, id, { requests: 2 })).toMatchObject({ left: 2, state: 'running' })
    const request = requestOf(credential)
    await auth.session(request)
    await auth.agents.authorize(request, { scopes: ['notes.read'] })
    expect(await auth.agents.list({ userId: 'ada' })).toMatchObject([{ left: 1 }])
  })

  it('ends with its days, and owners give no more than the option', async () => {
    const { make, act, auth, runtime } = await world()
    const { credential, id } = await make({ budget: { days: 1 } })
    runtime.advance(86_400_000)
    expect(await act(credential)).toMatchObject({ status: 429, error: 'budget_spent' })
    expect(await auth.agents.list({ userId: 'ada' })).toMatchObject([{ state: 'spent' }])
    for (const budget of [{ requests: 101 }, { days: 11 }, { requests: 0 }, { requests: 1.5 }, { days: -1 }])
      await expect(auth.agents.renew({ userId: 'ada' }, id, budget)).rejects.toMatchObject({ status: 400 })
  })

  it('two processes at one store spend it once', async () => {
    const adapter = memoryAdapter()
    const [one, two] = [await world({}, { adapter }), await world({}, { adapter })]
    const { credential } = await one.make({ budget: { requests: 5 } })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? one : two).act(credential)))
    expect(answers.filter((answer) => 'agentId' in answer)).toHaveLength(5)
  })
})

describe('an approval', () => {
  const demand = { scopes: ['pay'], action: 'Pay 20 EUR to Acme Ltd' }

  it('lets the agent do this one thing once, after its owner has said yes', async () => {
    const { make, act, auth, audit, requestOf } = await world()
    const { credential } = await make()
    const asked = await act(credential, demand)
    expect(asked).toMatchObject({ status: 403, error: 'approval_required', expires_in: 600 })
    // The same question is one question.
    expect(await act(credential, demand)).toMatchObject({ approval: 'approval' in asked ? asked.approval : '' })
    const [waiting] = await auth.agents.approvals({ userId: 'ada' })
    expect(waiting).toMatchObject({ agent: 'Bookkeeper', action: demand.action, scopes: ['pay'] })
    expect(await auth.agents.approve({ userId: 'eve' }, waiting!.id)).toBe(false)
    expect(await auth.agents.approve({ userId: 'ada' }, waiting!.id)).toBe(true)
    expect(await auth.agents.deny({ userId: 'ada' }, waiting!.id)).toBe(false)
    const status = await auth.handler(new Request(`${origin}/auth/agents/approvals/${waiting!.id}`, requestOf(credential)))
    expect(await status.json()).toMatchObject({ status: 'approved' })
    expect(await act(credential, { ...demand, action: 'Pay 2000 EUR to Acme Ltd' })).toMatchObject({ error: 'approval_required' })
    const answers = await Promise.all(Array.from({ length: 30 }, () => act(credential, demand)))
    expect(answers.filter((answer) => 'agentId' in answer)).toHaveLength(1)
    const names = (await audit()).map(({ name, actor }) => `${name} ${actor.type}`)
    expect(names).toContain('agent.approval.requested machine')
    expect(names).toContain('agent.approval.approved user')
    expect(names).toContain('agent.approval.used machine')
  })

  it('that is denied is not asked for again until it is too old, and one that the owner does not answer ends', async () => {
    const { make, act, auth, runtime } = await world()
    const { credential } = await make()
    await act(credential, demand)
    await auth.agents.deny({ userId: 'ada' }, (await auth.agents.approvals({ userId: 'ada' }))[0]!.id)
    expect(await act(credential, demand)).toMatchObject({ error: 'approval_denied' })
    runtime.advance(600_000)
    expect(await act(credential, demand)).toMatchObject({ error: 'approval_required' })
    const [waiting] = await auth.agents.approvals({ userId: 'ada' })
    runtime.advance(600_000)
    expect(await auth.agents.approve({ userId: 'ada' }, waiting!.id)).toBe(false)
  })

  it('is limited in number, needs an action to show, and is told to the agent that asked alone', async () => {
    const { make, act, requestOf, auth } = await world({ maxPending: 2 })
    const { credential } = await make()
    const other = await make()
    const first = await act(credential, demand)
    await act(credential, { ...demand, action: 'two' })
    await expect(act(credential, { ...demand, action: 'three' })).rejects.toMatchObject({ status: 429 })
    for (const action of [undefined, '', 'a\u202eb', 'x'.repeat(501)])
      await expect(act(credential, { scopes: ['pay'], ...(action !== undefined && { action }) })).rejects.toMatchObject({ status: 400 })
    const url = `${origin}/auth/agents/approvals/${'approval' in first ? first.approval : ''}`
    const status = async (of: string) => (await auth.handler(new Request(url, requestOf(of)))).status
    expect([await status(credential), await status(other.credential), await status('agent_x')]).toEqual([200, 404, 401])
  })
})

describe('the kill switch', () => {
  it('of the owner, and of an administrator, which the owner cannot take back', async () => {
    const { make, act, auth, audit } = await world()
    const { credential, id } = await make()
    await act(credential, { scopes: ['pay'], action: 'Pay' })
    const [waiting] = await auth.agents.approvals({ userId: 'ada' })
    expect([await auth.agents.stop({ userId: 'eve' }, id), await auth.agents.stop({ userId: 'ada' }, id)]).toEqual([false, true])
    expect(await act(credential)).toMatchObject({ status: 401 })
    expect(await auth.agents.approve({ userId: 'ada' }, waiting!.id)).toBe(false)
    expect(await auth.agents.start({ userId: 'ada' }, id)).toMatchObject({ state: 'running' })
    expect(await act(credential)).toMatchObject({ agentId: id })
    expect(await auth.agents.stopAny(id, { reason: 'abuse' })).toBe(true)
    expect(await auth.agents.stop({ userId: 'ada' }, id)).toBe(false)
    await expect(auth.agents.start({ userId: 'ada' }, id)).rejects.toMatchObject({ status: 403 })
    expect((await audit()).findLast(({ name }) => name === 'agent.stopped')).toMatchObject({
      actor: { type: 'admin' },
      target: { reason: 'abuse' },
    })
    expect(await auth.agents.delete({ userId: 'ada' }, id)).toBe(true)
    expect(await act(credential)).toMatchObject({ status: 401 })
  })

  it('of an administrator holds when the owner and ended access stop the agent at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const { make, auth, end } = await world()
      const { id } = await make()
      const stops = [auth.agents.stop({ userId: 'ada' }, id), auth.agents.stopAny(id, { reason: 'abuse' }), end('ada', 'signOutEverywhere')]
      await Promise.all(round % 2 === 0 ? stops : stops.toReversed())
      await expect(auth.agents.start({ userId: 'ada' }, id)).rejects.toMatchObject({ status: 403 })
    }
  })

  it.each(['signOutEverywhere', 'passwordReset', 'ban', 'accountDisabled', 'a reason of a plugin'] as const)(
    'is thrown by %s of the owner, with what waits',
    async (reason) => {
      const { make, act, auth, end } = await world()
      const { credential, id } = await make()
      await act(credential, { scopes: ['pay'], action: 'Pay' })
      await end('ada', reason)
      expect(await act(credential)).toMatchObject({ status: 401 })
      expect(await auth.agents.approvals({ userId: 'ada' })).toEqual([])
      expect(await auth.agents.list({ userId: 'ada' })).toMatchObject([{ id, state: 'stopped by access' }])
    },
  )

  it('by a policy of a company is thrown for agents from before the policy alone', async () => {
    const { make, act, runtime, job } = await world()
    const old = await make()
    runtime.advance(60_000)
    const since = new Date(runtime.now())
    const young = await make()
    // As a policy does that is set again: an exception was added.
    await job(async (ctx) => void (await ctx.access.end({ userId: 'ada' }, { by: 'test', reason: 'policy', before: since })))
    expect(await act(old.credential)).toMatchObject({ status: 401 })
    expect(await act(young.credential)).toMatchObject({ agentId: young.id })
  })

  it('is not thrown by a changed password', async () => {
    const { make, act, end } = await world()
    const { credential, id } = await make()
    await end('ada', 'credentialChanged')
    expect(await act(credential)).toMatchObject({ agentId: id })
  })

  it('an agent of a deleted user, and of one whom a plugin refuses, is refused', async () => {
    const { make, act, auth, store } = await world()
    const { credential } = await make()
    const refused = auth.hook('access', ({ userId }) => userId !== 'ada')
    expect(await act(credential)).toMatchObject({ status: 401 })
    refused()
    expect(await act(credential)).toMatchObject({ ownerId: 'ada' })
    await store.deleteUser!('ada')
    expect(await act(credential)).toMatchObject({ status: 401 })
  })

  it('an agent that is made, started or rotated while access ends does not live', async () => {
    const { make, auth, end, act } = await world()
    const { id, credential } = await make()
    await auth.agents.stop({ userId: 'ada' }, id)
    const results = await Promise.allSettled([
      end('ada', 'signOutEverywhere'),
      ...Array.from({ length: 5 }, () => make()),
      auth.agents.start({ userId: 'ada' }, id),
    ])
    await end('ada', 'signOutEverywhere')
    const made = results.flatMap((one) =>
      one.status === 'fulfilled' && typeof one.value === 'object' && one.value && 'credential' in one.value ? [one.value.credential] : [],
    )
    for (const text of [credential, ...made]) expect(await act(text)).toMatchObject({ status: 401 })
  })
})

describe('the owner', () => {
  it('is the user of the session: no agent, no acting administrator and no visitor makes or changes agents', async () => {
    const { auth, browser, asBrowser, make, requestOf } = await world()
    const { credential, id } = await make()
    const own = await browser()
    expect(await auth.agents.create(asBrowser(own), { name: 'x', scopes: ['notes.read'] })).toMatchObject({ ownerId: 'ada' })
    const eve = await browser('eve')
    expect(await auth.agents.rotate(asBrowser(eve), id)).toBeNull()
    expect(await auth.agents.delete(asBrowser(eve), id)).toBe(false)
    await eve.post('/impersonation/start', { userId: 'ada', reason: 'support' })
    for (const request of [requestOf(credential), asBrowser(eve), new Request(`${origin}/x`)])
      for (const call of [
        () => auth.agents.create(request, { name: 'x', scopes: ['notes.read'] }),
        () => auth.agents.rotate(request, id),
        () => auth.agents.approvals(request),
      ])
        if (request !== undefined && !(request.headers.get('cookie') && (await auth.session(request))?.user?.['id'] === 'eve'))
          await expect(call()).rejects.toMatchObject({ type: 'AccessDenied' })
  })

  it('needs a fresh proof where an agent gets more, and none to stop it', async () => {
    const { auth, browser, asBrowser, make, runtime } = await world()
    const { id } = await make()
    const own = await browser()
    runtime.advance(301_000)
    for (const call of [
      () => auth.agents.create(asBrowser(own), { name: 'x', scopes: ['notes.read'] }),
      () => auth.agents.rotate(asBrowser(own), id),
      () => auth.agents.renew(asBrowser(own), id),
      () => auth.agents.start(asBrowser(own), id),
      () => auth.agents.approve(asBrowser(own), 'x'),
    ])
      await expect(call()).rejects.toBeInstanceOf(StepUpRequired)
    expect(await auth.agents.stop(asBrowser(own), id)).toBe(true)
  })

  it('whose address is not verified makes none, and no more than `max` are made at once', async () => {
    const { auth, store, make } = await world({ max: 3 })
    await store.createUser!({ id: 'tom', email: 'tom@example.com', name: 'tom', emailVerified: null })
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => make()))
    expect((await auth.agents.list({ userId: 'ada' })).length).toBeLessThanOrEqual(3)
    expect(answers.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(7)
  })

  it('makes, approves and stops on the account page; the credential is shown once', async () => {
    const { browser, act, auth, log } = await world({}, { config: { messages: { en: { 'agents.scope.pay': 'Pay bills' } } } })
    const client = await browser()
    const page = async () => (await client.get('/account')).text()
    expect(await page()).toContain('Pay bills')
    const csrfToken = await client.csrfToken()
    const body = new URLSearchParams({ csrfToken, action: 'create', name: 'Payer <b>', scope: 'pay' })
    const made = await (await client.send('/account/agents', { method: 'POST', body })).text()
    const credential = /agent_[0-9a-f]{32}_[\w-]{43}/.exec(made)![0]
    expect(await page()).toContain('Payer &lt;b&gt;')
    expect(await page()).not.toContain(credential)
    await act(credential, { scopes: ['pay'], action: 'Pay 5 EUR' })
    expect(await page()).toContain('Pay 5 EUR')
    const { id } = (await auth.agents.approvals({ userId: 'ada' }))[0]!
    const eve = await browser('eve')
    await eve.post('/account/agents', { action: 'approve', id })
    expect(await act(credential, { scopes: ['pay'], action: 'Pay 5 EUR' })).toMatchObject({ error: 'approval_required' })
    await client.post('/account/agents', { action: 'approve', id })
    expect(await act(credential, { scopes: ['pay'], action: 'Pay 5 EUR' })).toMatchObject({ ownerId: 'ada' })
    const { id: agentId } = (await auth.agents.list({ userId: 'ada' }))[0]!
    await eve.post('/account/agents', { action: 'stop', id: agentId })
    expect(await act(credential, { scopes: ['pay'], action: 'x' })).toMatchObject({ status: 403 })
    await client.post('/account/agents', { action: 'stop', id: agentId })
    expect(await act(credential)).toMatchObject({ status: 401 })
    const refused = await client.post('/account/agents', { action: 'create', name: '' })
    expect(refused.headers.get('location')).toContain('agents=AgentRefused')
    expect(log.errors).toEqual([])
  })
})

describe('other plugins', () => {
  it('take an agent for no more than it is: no tokens of its owner, no permission beyond its scopes, no account page, no code', async () => {
    const base = baseConfig({ session: { strategy: 'database' } })
    const store = memoryAdapter()
    await store.createUser!({ id: 'ada', email: 'ada@example.com', name: 'ada', emailVerified: new Date(0) })
    const auth = createAuth(base)
      .use(adapterPlugin(store))
      .use(jwtPlugin())
      .use(authorizationServerPlugin({ clients: [{ client_id: 'tool', client_name: 'Tool', redirect_uris: ['https://tool.example/cb'] }] }))
      .use(mailPlugin({ transport: { send: () => undefined } }))
      .use(organizationsPlugin())
      .use(agentsPlugin({ scopes: ['member:read', 'organization:update'], approve: ['organization:update'] }))
    const made = await auth.organizations.create({ userId: 'ada' }, { name: 'Acme' })
    const agent = await auth.agents.create({ userId: 'ada' }, { name: 'Agent', scopes: ['member:read', 'organization:update'] })
    const headers = { authorization: `Bearer ${agent.credential}` }
    const request = (path = '/x') => new Request(`${origin}${path}`, { headers })
    expect(await auth.can(request(), 'member:read', { organization: made.id })).toBe(true)
    for (const permission of ['organization:update', 'member:remove'] as const)
      expect(await auth.can(request(), permission, { organization: made.id })).toBe(false)
    await expect(auth.jwt.issue(request(), { audience: 'https://api.example' })).rejects.toMatchObject({ type: 'AccessDenied' })
    const ask = new URLSearchParams({
      response_type: 'code',
      client_id: 'tool',
      redirect_uri: 'https://tool.example/cb',
      code_challenge_method: 'S256',
    })
    ask.set('code_challenge', 'x'.repeat(43))
    const answer = await auth.handler(request(`/auth/oauth2/authorize?${ask.toString()}`))
    expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe('access_denied')
    expect(await (await auth.handler(request('/auth/account'))).text()).not.toContain('ada@example.com')
  })
})

describe('options', () => {
  it.each([
    [{}, '`scopes` is missing'],
    [{ scopes: ['a b'] }, 'is no scope'],
    [{ scopes: ['a'], approve: ['b'] }, '`approve` has "b"'],
    [{ scopes: ['a'], budget: { requests: 0, days: 1 } }, '`budget` must have'],
    [{ scopes: ['a'], overlap: -1 }, '`overlap`'],
    [{ scopes: ['a'], approvalAge: 1 }, '`approvalAge`'],
    [{ scopes: ['a'], proofAge: 0 }, '`proofAge`'],
    [{ scopes: ['a'], max: 0 }, '`max`'],
    [{ scopes: ['a'], maxPending: 0 }, '`maxPending`'],
  ])('%j is refused', (options, text) => {
    expect(() => agentsPlugin(options as AgentsOptions)).toThrow(text)
  })
})
