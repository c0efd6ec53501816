/** Rules by route, account, address and network. */
import { type AuthConfig, createAuth } from 'authkernel'
import { limitsPlugin, type LimitRuleOptions, type LimitsOptions } from 'authkernel/plugins/limits'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter } from 'authkernel/plugins/memory'
import type { MailMessage } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const minutes10 = 600

function createHost(options: LimitsOptions = {}, config: AuthConfig = {}) {
  const settings = baseConfig({
    throttle: false,
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        credentials: { pin: { label: 'Name' }, password: { label: 'Password', type: 'password' } },
        authorize: ({ pin, password }: Record<string, unknown>) => {
          if (password === 'down') throw new Error('database down')
          return password === 'right' ? { id: String(pin) } : null
        },
      } as never,
    ],
    ...config,
  })
  const auth = createAuth(settings).use(limitsPlugin(options))
  const client = (clientAddress = '192.0.2.1') => new Client({ handler: (request) => auth.handler(request, { clientAddress }) })
  const attempt = async (pin: string, password = 'wrong', browser = client()): Promise<number | 'in'> => {
    const answer = await browser.post('/callback/credentials', { pin, password })
    return answer.headers.get('location') === 'http://localhost:3000' ? 'in' : answer.status
  }
  return { auth, settings, client, attempt }
}
const times = async <T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> => {
  const answers: T[] = []
  for (let at = 0; at < count; at++) answers.push(await work(at))
  return answers
}

describe('limitsPlugin', () => {
  it('refuses with 429, Retry-After and RateLimit fields, as JSON and as a page, and tells it', async () => {
    const told: string[] = []
    const { auth, client } = createHost({ rules: [{ name: 'guesses', by: 'account', max: 1, seconds: minutes10, delay: false }] })
    auth.on('signInFailed', ({ error }) => void told.push(error.type))
    await client().post('/callback/credentials', { pin: 'ann', password: 'wrong' })
    const refused = await client().post('/callback/credentials', { pin: ' ANN', password: 'wrong' })
    expect([
      refused.status,
      refused.headers.get('retry-after'),
      refused.headers.get('ratelimit'),
      refused.headers.get('ratelimit-policy'),
    ]).toEqual([429, '600', '"guesses";r=0;t=600', '"guesses";q=1;w=600'])
    expect(await refused.json()).toEqual({ error: 'TooManyRequests', url: 'http://localhost:3000/auth/signin?error=TooManyRequests' })
    const page = await client().post('/callback/credentials', { pin: 'ann', password: 'wrong' }, { accept: 'text/html' })
    expect([page.status, page.headers.get('ratelimit')]).toEqual([429, '"guesses";r=0;t=600'])
    expect(await page.text()).toContain('Too many attempts')
    expect(told).toEqual(['CredentialsSignin', 'TooManyRequests', 'TooManyRequests'])
  })

  it('counts failures alone: successes and outages are given back', async () => {
    const { attempt } = createHost({ rules: [{ by: ['account', 'network'], max: 2, seconds: minutes10 }] })
    expect(await times(6, () => attempt('ann', 'right'))).toEqual(Array(6).fill('in'))
    expect(await times(6, () => attempt('ann', 'down'))).toEqual(Array(6).fill(302))
    expect(await times(3, () => attempt('ann'))).toEqual([302, 302, 429])
    expect(await attempt('bob')).toBe(302)
  })

  it('an account of ten guesses from everywhere waits longer each time, and is open to the browser of its owner', async () => {
    const { attempt, client, settings } = createHost({
      rules: [{ by: 'account', max: 2, seconds: minutes10, delay: { first: 2, longest: 30 } }],
    })
    const owner = client('198.51.100.1')
    expect(await attempt('ann', 'right', owner)).toBe('in')
    const stranger = (at: number) => attempt('ann', 'wrong', client(`192.0.2.${at}`))
    expect(await times(4, stranger)).toEqual([302, 302, 429, 429])
    const waits: number[] = []
    for (let step = 0; step < 6; step++) {
      const refused = await client().post('/callback/credentials', { pin: 'ann', password: 'wrong' })
      waits.push(Number(refused.headers.get('retry-after')))
      settings.runtime.advance(waits.at(-1)! * 1000 - 1000)
      expect(await stranger(9)).toBe(429)
      settings.runtime.advance(1000)
      // One guess for each wait.
      expect(await stranger(9)).toBe(302)
    }
    expect(waits).toEqual([2, 4, 8, 16, 30, 30])
    expect(await attempt('ann', 'right', owner)).toBe('in')
    // The owner's browser has a count of its own, and no more.
    expect(await times(3, () => attempt('ann', 'wrong', owner))).toEqual([302, 302, 429])
  })

  it('spellings of one name are one account', async () => {
    const { attempt, client } = createHost({ rules: [{ by: 'account', max: 3, seconds: minutes10 }] })
    const spellings = ['ann', 'ANN', ' ann ', 'ａnn', 'Ann']
    const answers = await times(spellings.length, (at) => attempt(spellings[at]!, 'wrong', client(`192.0.2.${at}`)))
    expect(answers).toEqual([302, 302, 302, 429, 429])
  })

  it('counts by network and address: a /64 is one network, and has many addresses', async () => {
    const rules: LimitRuleOptions[] = [{ by: 'network', routes: 'POST /callback/:provider', max: 2, seconds: minutes10 }]
    const { attempt, client } = createHost({ rules })
    expect(await times(3, (at) => attempt(`n${at}`, 'right', client(`2001:db8::${at}`)))).toEqual(['in', 'in', 429])
    expect(await attempt('x', 'right', client('2001:db8:0:1::1'))).toBe('in')
    // Eight times as many for the /48, whatever the /64.
    expect(
      (await times(20, (at) => attempt(`m${at}`, 'right', client(`2001:db8:1:${at}::1`)))).filter((answer) => answer === 'in'),
    ).toHaveLength(16)
    const apart = createHost({ rules: [{ ...rules[0]!, by: 'address' }] })
    expect(await times(4, (at) => apart.attempt('a', 'right', apart.client(`2001:db8::${at}`)))).toEqual(['in', 'in', 'in', 'in'])
    // Requests without an address share one.
    expect(await times(3, () => apart.attempt('a', 'right', apart.client('')))).toEqual(['in', 'in', 429])
  })

  it('counts by route and for everybody, also routes of plugins, and slides', async () => {
    const { auth, client, settings } = createHost({
      rules: [
        { by: ['route', 'address'], routes: ['/ping', '/pong'], max: 2, seconds: 60 },
        { name: 'all', by: [], routes: (route) => route.path === '/pong', max: 3, seconds: 60 },
      ],
    })
    auth.use({
      name: 'own',
      setup(kernel) {
        for (const path of ['/ping', '/pong'] as const) kernel.route({ method: 'GET', path, handler: () => new Response('fine') })
      },
    })
    const get = async (path: string, address?: string) => (await client(address).get(path)).status
    expect([await get('/ping'), await get('/ping'), await get('/ping'), await get('/pong')]).toEqual([200, 200, 429, 200])
    expect([await get('/pong', 'a'), await get('/pong', '192.0.2.7'), await get('/pong', '192.0.2.8')]).toEqual([200, 200, 429])
    expect(await get('/session')).toBe(200)
    settings.runtime.advance(30_000)
    expect(await get('/ping')).toBe(429)
    settings.runtime.advance(30_000)
    expect([await get('/ping'), await get('/ping'), await get('/ping')]).toEqual([200, 200, 429])
  })

  it('a refusal by one rule takes nothing from the others', async () => {
    const { attempt, client } = createHost({
      rules: [
        { by: 'account', max: 5, seconds: minutes10, delay: false },
        { by: 'network', max: 1, seconds: minutes10 },
      ],
    })
    expect(await times(5, () => attempt('ann'))).toEqual([302, 429, 429, 429, 429])
    expect(await times(5, (at) => attempt('ann', 'wrong', client(`192.0.2.${at + 10}`)))).toEqual([302, 302, 302, 302, 429])
  })

  it('auth.limits.check counts requests of the host; tenants count apart', async () => {
    const { auth } = createHost({ rules: [{ name: 'contact', routes: [], by: 'account', max: 1, seconds: 60, delay: false }] })
    let namespace = 'one'
    auth.hook('settings', () => ({ namespace, cookiePrefix: namespace }))
    const request = new Request('http://localhost:3000/contact')
    expect(await auth.limits.check(request, 'contact', { account: 'ann' })).toBeNull()
    expect(await auth.limits.check(request, 'contact', { account: 'Ann ' })).toBe(60)
    expect(await auth.limits.check(request, 'contact', { account: 'bob' })).toBeNull()
    namespace = 'two'
    expect(await auth.limits.check(request, 'contact', { account: 'ann' })).toBeNull()
    await expect(auth.limits.check(request, 'kontakt')).rejects.toThrow('there is no rule "kontakt". Rules: contact.')
  })

  it('tells the owner by mail, once a day, in the language of the request; no other user', async () => {
    const mails: MailMessage[] = []
    const adapter = memoryAdapter()
    const { attempt, auth, settings } = createHost(
      { rules: [{ by: 'account', max: 1, seconds: minutes10, notice: true }] },
      { adapter, session: { strategy: 'jwt' } },
    )
    auth.use(mailPlugin({ transport: { send: (mail) => void mails.push(mail) } }))
    await adapter.createUser({ id: '1', email: 'ann@example.com', emailVerified: new Date(), name: 'Ann' })
    await adapter.createUser({ id: '2', email: 'unproved@example.com', emailVerified: null })
    for (const name of ['ann@example.com', 'unproved@example.com', 'nobody@example.com']) await times(4, () => attempt(name))
    await expect.poll(() => mails.length).toBe(1)
    expect(mails[0]).toMatchObject({ to: 'ann@example.com', subject: expect.stringContaining('Many failed sign-ins') })
    expect(mails[0]!.text).toContain('192.0.2.1')
    settings.runtime.advance(86_400_000)
    await times(3, () => attempt('ann@example.com'))
    await expect.poll(() => mails.length).toBe(2)
    await createAuth(baseConfig())
      .use(limitsPlugin({ rules: [{ by: 'account', max: 1, seconds: 1, notice: true }] }))
      .ready()
      .then(
        () => expect.fail('no store, no transport'),
        (error: Error) => expect(error.message).toMatch(/limits.*(store|mail)/),
      )
  })

  it.each([
    [{ by: 'user' as never, max: 1, seconds: 1 }, 'rules[0].by must be of route, account, address, network, not "user".'],
    [{ by: 'network', max: 1.5, seconds: 1 }, 'rules[0].max must be a whole number from 0, not 1.5.'],
    [{ by: 'network', max: 1, seconds: 0 }, 'rules[0].seconds must be a whole number from 1, not 0.'],
    [{ by: 'network', max: 1, seconds: 1, name: 'a "b"' }, 'rules[0].name is "a \\"b\\""'],
    [{ by: 'network', max: 1, seconds: 1, notice: true }, 'rules[0].notice needs `by: "account"`'],
    [{ by: 'network', max: 1, seconds: 1, window: 5 } as never, 'rules[0] has "window", which is no option of a rule.'],
  ] satisfies [LimitRuleOptions, string][])('refuses %j', (rule, message) => {
    expect(() => limitsPlugin({ rules: [rule] })).toThrow(message)
  })

  it('refuses two rules of one name', () => {
    const rule: LimitRuleOptions = { name: 'a', by: 'network', max: 1, seconds: 1 }
    expect(() => limitsPlugin({ rules: [rule, rule] })).toThrow('two rules are named "a"')
  })

  it('has rules by default', async () => {
    const { attempt } = createHost()
    expect((await times(12, () => attempt('ann'))).slice(8)).toEqual([302, 302, 429, 429])
    expect(await attempt('bob', 'right')).toBe('in')
  })
})
