/** What `debug: true` writes: a trace that a person can read, and no secret of any flow. */
import { inspect } from 'node:util'
import { createAuth } from 'authkernel'
import { debugPlugin } from 'authkernel/plugins/debug'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { describe, expect, it, vi } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { createWorld, type Strategy } from '../rows/_world.ts'

const linesOf = ({ logger }: Pick<ReturnType<typeof baseConfig>, 'logger'>): string[] =>
  logger.debugs.map((call) => String((call as unknown[])[0]))

describe('a sign-in at a provider', () => {
  it('says route, provider, cookies, hooks with answers, calls with times, and effects', async () => {
    const world = createWorld('database', 'split', { debug: true })
    world.answers.signIn = () => true
    const callback = await world.toProvider('oidc')
    world.options.logger.debugs.length = 0
    const response = await world.client.get(callback)
    expect(response.status).toBe(302)
    const lines = linesOf(world.options)
    expect(lines[0]).toMatch(/^\S{12} {2}GET \/auth\/callback\/oidc, cookies .*authkernel\.state/)
    const text = lines.join('\n')
    expect(text).toMatch(/hook signIn, watcher: true \(\d/)
    expect(text).toMatch(/hook signIn, host: true \(\d/)
    expect(text).toMatch(/store getUserByAccount: nothing \(\d+(\.\d)? ms\)/)
    expect(text).toMatch(/store createUser: one row \(\d/)
    expect(text).toMatch(/POST https:\/\/op\.example\/token: 200 \(\d/)
    expect(text).toMatch(/event signIn \(\d/)
    expect(lines.at(-1)).toMatch(
      /302 by GET \/callback\/:provider of kernel, provider oidc, leads to .*, sets .*authkernel\.session-token.*, deletes .*authkernel\.state/,
    )
    // One request, one name for all of its lines.
    expect(new Set(lines.map((line) => line.slice(0, 12))).size).toBe(1)
  })

  it('says why a check failed', async () => {
    const world = createWorld('jwt', 'split', { debug: true })
    const callback = await world.toProvider('oidc')
    world.client.cookies.delete('authkernel.state')
    world.options.logger.debugs.length = 0
    await world.client.get(callback)
    const text = linesOf(world.options).join('\n')
    expect(text).toMatch(/why: InvalidCheck: .*state/)
    expect(text).toMatch(/leads to .*\?error=/)
  })

  it('names lines of requests that run at once apart', async () => {
    const world = createWorld('database', 'split', { debug: true })
    world.options.logger.debugs.length = 0
    await Promise.all([world.client.get('/session'), world.client.get('/csrf'), world.client.get('/providers')])
    const byRequest = new Map<string, string[]>()
    for (const line of linesOf(world.options)) byRequest.set(line.slice(0, 12), [...(byRequest.get(line.slice(0, 12)) ?? []), line])
    expect(byRequest.size).toBe(3)
    for (const lines of byRequest.values()) {
      expect(lines[0]).toMatch(/GET \/auth\/(session|csrf|providers)/)
      expect(lines.at(-1)).toMatch(/200 by GET/)
    }
  })
})

it('a session that is read, and a cookie that does not count', async () => {
  const world = createWorld('jwt', 'none', { debug: true })
  world.options.logger.debugs.length = 0
  await world.auth.session(new Request('http://localhost:3000/', { headers: { cookie: 'authkernel.session-token=planted' } }))
  const text = linesOf(world.options).join('\n')
  expect(text).toMatch(/why: JWTSessionError/)
  expect(text).toMatch(/session of a request, cookies authkernel\.session-token: signed out/)
  expect(text).not.toContain('planted')
})

it('requests that are refused', async () => {
  const world = createWorld('jwt', 'none', { debug: true })
  world.options.logger.debugs.length = 0
  await world.client.send('/signout', { method: 'POST' })
  await world.client.get('/nowhere')
  const text = linesOf(world.options).join('\n')
  expect(text).toMatch(/why: MissingCSRF/)
  expect(text).toMatch(/why: UnknownAction/)
  expect(text).toMatch(/400 without a route/)
})

it('writes nothing when debug is off, and with the plugin in a bare kernel it writes', async () => {
  const world = createWorld('jwt', 'none')
  await world.client.get('/session')
  expect(world.options.logger.debugs).toEqual([])
  world.auth.use(debugPlugin())
  await world.client.get('/session')
  expect(world.options.logger.debugs.length).toBeGreaterThan(1)
})

describe('canaries in everything', () => {
  it.each<Strategy>(['jwt', 'database'])('are in no line, %s strategy', async (strategy) => {
    const world = createWorld(strategy, 'split', { debug: true })
    const canaries = new Set<string>()
    const canary = (name: string): string => {
      const value = `canary-${name}-9f2c`
      canaries.add(value)
      return value
    }
    const { client, op, data, options } = world
    // Sign-in at a provider, its tokens and the session.
    await client.get(await world.toProvider('oidc', { callbackUrl: `/welcome?invite=${canary('invite')}` }))
    await client.get('/session')
    // A link by mail, opened.
    await client.post('/signin/mail', { email: 'reader@example.com' })
    const link = world.mails.at(-1)
    canaries.add(String(link?.token))
    await client.get(String(link?.url))
    // Passwords, right and wrong, and fields that were not asked for.
    await client.post('/callback/password', { username: 'ada', password: canary('password'), extra: canary('field') })
    // Values planted in headers, cookies, query and body.
    await client.get(`/callback/oidc?code=${canary('code')}&state=${canary('state')}`)
    await client.get(`/callback/oidc?error=access_denied&error_description=${canary('description')}`)
    await client.get('/session', { cookie: `authkernel.session-token=${canary('cookie')}`, authorization: `Bearer ${canary('bearer')}` })
    await client.send('/signout', { method: 'POST', body: new URLSearchParams({ csrfToken: canary('csrf') }) })
    await client.get('/webauthn-options/passkey?action=register&email=who@example.com')
    await client.post('/callback/passkey', { action: 'register', data: canary('passkey') })
    await client.post('/signout')
    for (const value of client.cookies.values()) if (value.length > 15) canaries.add(value)
    for (const account of data.accounts.values())
      for (const token of [account.access_token, account.refresh_token, account.id_token]) if (token) canaries.add(String(token))
    for (const { sessionToken } of data.sessions.values()) canaries.add(sessionToken)
    canaries.add(op.clientSecret).add(String(options.secret))
    const written = inspect(options.logger.debugs, { depth: null, maxStringLength: null, maxArrayLength: null })
    expect([...canaries].filter((value) => written.includes(value))).toEqual([])
    expect(options.logger.debugs.length).toBeGreaterThan(50)
    expect(canaries.size).toBeGreaterThan(15)
  })

  it('nor of a plugin with records and mails', async () => {
    const options = baseConfig({ debug: true, session: { strategy: 'database' } })
    const mails: string[] = []
    const auth = createAuth(options)
      .use(adapterPlugin(memoryAdapter()))
      .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail.text) }) })
      .use(passwordsPlugin({ breached: false }))
    const client = new Client(auth)
    await client.post('/passwords/sign-up', { email: 'ada@example.com', password: 'canary-password-9f2c-long' })
    await vi.waitFor(() => expect(mails).toHaveLength(1))
    const token = /token=([0-9a-f]{64})/.exec(mails[0] ?? '')?.[1] ?? 'no token'
    await client.post('/passwords/confirm', { token })
    await client.post('/callback/passwords', { email: 'ada@example.com', password: 'canary-wrong-9f2c-longer-than' })
    const text = linesOf(options).join('\n')
    expect(text).toMatch(/records create passwordPending: written \(\d/)
    expect(text).toMatch(/mail passwords\.\S+: sent/)
    expect(text).toMatch(/limit: allowed/)
    expect(text).not.toContain('canary')
    expect(text).not.toContain(token)
  })
})
