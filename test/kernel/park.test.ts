/** Parked logins: several plugins, several tabs, one use, one browser. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AuthConfig, Context, Login, Plugin } from 'authkernel/kernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { memoryRecords, type RecordData } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { baseConfig, Client, fakeRuntime, recordingLogger } from '../_setup.ts'

const password = credentialsPlugin({
  id: 'password',
  type: 'credentials',
  name: 'Password',
  authorize: ({ username }: Record<string, unknown>) => ({ id: String(username), name: String(username) }),
} as never)

/** Asks a question after every sign-in; the form of its page says `yes`. */
function gate(name: string, more: { proof?: Login['proof'] } = {}): Plugin {
  return {
    name,
    setup(kernel) {
      kernel.hook('login', ({ login, ctx }) => ctx.park(login, { to: `/${name}`, data: { asked: name } }))
      kernel.route({
        method: 'GET',
        path: `/${name}`,
        async handler(ctx) {
          const parked = await ctx.parked<{ asked: string }>()
          return Response.json(
            parked && { flow: parked.flow, name: parked.login.user.name, passed: parked.login.passed, data: parked.data },
          )
        },
      })
      kernel.route({
        method: 'POST',
        path: `/${name}`,
        async handler(ctx: Context) {
          const parked = await ctx.parked()
          if (!parked) return ctx.page('signIn')
          if ((await ctx.body())['yes'] === undefined) {
            await ctx.keep(parked, { asked: 'again' })
            return new Response('again')
          }
          return ctx.resume(parked, more.proof ? { proof: more.proof } : {})
        },
      })
    },
  }
}

function make({
  records = true,
  plugins = [gate('two-factor', { proof: { amr: ['otp', 'mfa'], factors: 2 } })],
  config = {},
}: { records?: boolean; plugins?: Plugin[]; config?: AuthConfig } = {}) {
  const runtime = fakeRuntime()
  const logger = recordingLogger()
  const data: RecordData = new Map()
  const auth = createAuth(baseConfig({ runtime, logger, ...config })).use(password)
  if (records) auth.use(recordsPlugin(memoryRecords(data)))
  for (const plugin of plugins) auth.use(plugin)
  const logins: Login[] = []
  auth.on('signedIn', ({ login }) => void logins.push(login))
  return { auth, runtime, logger, data, logins, client: () => new Client(auth) }
}
const begin = (client: Client, username = 'ada', callbackUrl = '/inside') => client.post('/callback/password', { username, callbackUrl })
const pathOf = (response: Response): string => new URL(response.headers.get('location')!).pathname.replace('/auth', '')
const queryOf = (response: Response): string => new URL(response.headers.get('location')!).search
const read = async (client: Client, path: string) =>
  (await (await client.get(path)).json()) as { flow: string; name: string; passed: string[]; data: unknown } | null

describe.each([
  ['with records', true],
  ['without records', false],
] as const)('%s', (_, records) => {
  it('a login waits, holds no session, and goes on with what was proved', async () => {
    const { client, logins } = make({ records })
    const browser = client()
    const parked = await begin(browser)
    expect([parked.status, pathOf(parked)]).toEqual([302, '/two-factor'])
    expect(queryOf(parked)).toMatch(/^\?flow=[0-9a-f]{12}$/)
    expect(await browser.session()).toBeNull()
    expect(await read(browser, '/two-factor')).toMatchObject({ name: 'ada', passed: [], data: { asked: 'two-factor' } })
    expect(await (await browser.post('/two-factor')).text()).toBe('again')
    expect(await read(browser, '/two-factor')).toMatchObject({ data: { asked: 'again' } })
    const done = await browser.post('/two-factor', { yes: '1' })
    expect(done.headers.get('location')).toBe('http://localhost:3000/inside')
    expect(await browser.session()).toMatchObject({ user: { name: 'ada' } })
    expect(logins).toMatchObject([
      { proof: { amr: ['pwd', 'otp', 'mfa'], factors: 2 }, passed: ['two-factor'], person: 'account:password:ada', purpose: 'signIn' },
    ])
    expect(await read(browser, '/two-factor')).toBeNull()
  })

  it.each([[['captcha', 'two-factor', 'terms', 'second']], [['second', 'terms', 'two-factor', 'captcha']]])(
    '%j in a row end after one page each',
    async (names) => {
      const { client } = make({ records, plugins: names.map((name) => gate(name)) })
      const browser = client()
      let response = await begin(browser)
      const pages: string[] = []
      while (pathOf(response) !== '/inside' && pages.length < 9) {
        pages.push(pathOf(response))
        response = await browser.post(pathOf(response), { yes: '1' })
      }
      expect(pages).toEqual(names.toReversed().map((name) => `/${name}`))
      expect(await browser.session()).not.toBeNull()
    },
  )

  it('two tabs each finish their own; without `flow` the newest counts', async () => {
    const { client } = make({ records })
    const browser = client()
    const [first, second] = [queryOf(await begin(browser, 'ada', '/one')), queryOf(await begin(browser, 'bob', '/two'))]
    expect((await read(browser, `/two-factor${first}`))?.name).toBe('ada')
    expect((await read(browser, '/two-factor'))?.name).toBe('bob')
    expect((await browser.post(`/two-factor${first}`, { yes: '1' })).headers.get('location')).toBe('http://localhost:3000/one')
    expect((await browser.session())?.user?.name).toBe('ada')
    expect((await browser.post('/two-factor', { yes: '1', flow: second.slice(6) })).headers.get('location')).toBe(
      'http://localhost:3000/two',
    )
    expect((await browser.session())?.user?.name).toBe('bob')
  })

  it('is used once: of many answers one gets the session, and a second click goes where the first led', async () => {
    const { client, logins } = make({ records })
    const browser = client()
    await begin(browser)
    const copies = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const copy = client()
        for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
        return copy
      }),
    )
    const answers = await Promise.all(copies.map((copy) => copy.post('/two-factor', { yes: '1' })))
    expect(answers.filter((answer) => pathOf(answer) === '/inside')).toHaveLength(1)
    expect(answers.filter((answer) => pathOf(answer) === '/signin')).toHaveLength(7)
    expect(logins).toHaveLength(1)
    const winner = copies[answers.findIndex((answer) => pathOf(answer) === '/inside')]!
    for (const [name, value] of browser.cookies) if (!winner.cookies.has(name)) winner.cookies.set(name, value)
    expect(['/inside', '/signin']).toContain(pathOf(await winner.post('/two-factor', { yes: '1' })))
    expect(logins).toHaveLength(1)
  })

  it('expires, is nothing in another browser, and nothing of another plugin', async () => {
    const { client, runtime } = make({ records, plugins: [gate('one')] })
    const browser = client()
    const query = queryOf(await begin(browser))
    expect(await read(client(), `/one${query}`)).toBeNull()
    runtime.advance(599_000)
    expect(await read(browser, '/one')).not.toBeNull()
    runtime.advance(2_000)
    expect(await read(browser, '/one')).toBeNull()
    expect(pathOf(await browser.post('/one', { yes: '1' }))).toBe('/signin')
    expect(await browser.session()).toBeNull()
  })

  it('cookies are HttpOnly, Lax, below the base path, and not readable', async () => {
    const { client } = make({ records })
    // Three letters of a sealed value may spell a short name.
    const username = 'a-person-whom-no-cookie-may-name'
    const lines = (await begin(client(), username)).headers.getSetCookie().filter((line) => line.includes('parked'))
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      expect(line).toMatch(/HttpOnly/)
      expect(line).toMatch(/SameSite=Lax/)
      expect(line).toMatch(/Path=\/auth(;|$)/)
      expect(line).not.toContain(username)
    }
  })
})

describe('records', () => {
  it('the row alone and the cookie alone resume nothing, and the row tells nothing', async () => {
    const { client, data } = make()
    const browser = client()
    await begin(browser)
    const rows = data.get('parkedLogin')!
    // Quoted: three letters of a hash may spell the name.
    expect(JSON.stringify([...rows.values()])).not.toMatch(/[":]ada[",@]/)
    const stolen = new Map(rows)
    rows.clear()
    expect(await read(browser, '/two-factor')).toBeNull()
    for (const [key, row] of stolen) rows.set(key, row)
    expect(await read(client(), `/two-factor?flow=${[...rows.values()][0]!.id.slice(0, 12)}`)).toBeNull()
    expect(await read(browser, '/two-factor')).not.toBeNull()
  })

  it('no login is too large', async () => {
    const { client } = make({
      plugins: [
        gate('one'),
        {
          name: 'fat',
          setup: (kernel) => kernel.hook('signIn', ({ account }) => (Object.assign(account, { id_token: 'x'.repeat(50_000) }), true)),
        },
      ],
    })
    expect(pathOf(await begin(client()))).toBe('/one')
  })
})

describe('without records', () => {
  const fat = (fields: Record<string, number>): Plugin => ({
    name: 'fat',
    setup(kernel) {
      kernel.hook('signIn', ({ account, user }) => {
        // Random, so that it does not deflate.
        for (const [field, size] of Object.entries(fields))
          (field === 'name' ? (user as unknown as Record<string, string>) : (account as unknown as Record<string, string>))[field] =
            Buffer.from(crypto.getRandomValues(new Uint8Array(size))).toString('base64')
        return true
      })
    },
  })
  it('tokens are dropped in order until the login fits, with a warning', async () => {
    const { client, logger, logins } = make({ records: false, plugins: [gate('one'), fat({ id_token: 6_000, access_token: 1_500 })] })
    const browser = client()
    expect(pathOf(await begin(browser))).toBe('/one')
    expect(logger.warnings).toContain('login-trimmed')
    await browser.post('/one', { yes: '1' })
    expect(logins[0]).toMatchObject({ trimmed: ['profile', 'id_token'], account: { access_token: expect.any(String) } })
    expect(logins[0]!.account.id_token).toBeUndefined()
  })
  it('what still does not fit is LoginTooLarge, whose remedy is recordsPlugin', async () => {
    const { client, logger } = make({ records: false, plugins: [gate('one'), fat({ name: 12_000 })] })
    expect((await begin(client())).headers.get('location')).toContain('error=Configuration')
    expect(logger.errors[0]).toMatchObject({ type: 'LoginTooLarge', message: expect.stringContaining('recordsPlugin') })
  })
})

describe('a page of the host', () => {
  it('looks and resumes by auth.login, and is named by who parks', async () => {
    const { auth, client } = make({ plugins: [] })
    auth.hook('login', ({ login, ctx }) => (login.passed.includes('terms') ? undefined : ctx.park(login, { to: '/terms', by: 'terms' })))
    const browser = client()
    const location = (await begin(browser)).headers.get('location')!
    expect(location).toMatch(/^http:\/\/localhost:3000\/terms\?flow=/)
    const request = () =>
      new Request(location, { headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') } })
    expect((await auth.login.parked(request(), 'terms'))?.login.user.name).toBe('ada')
    expect(await auth.login.parked(request(), 'else')).toBeNull()
    const response = await auth.login.resume(request(), 'terms')
    expect(response.headers.get('location')).toBe('http://localhost:3000/inside')
    expect(response.headers.getSetCookie().some((line) => line.startsWith('authkernel.session-token='))).toBe(true)
    expect((await auth.login.resume(request(), 'terms')).headers.get('location')).toContain('/signin')
  })

  it('must be named', async () => {
    const { auth, client, logger } = make({ plugins: [] })
    auth.hook('login', ({ login, ctx }) => ctx.park(login, { to: '/terms' }))
    await begin(client())
    expect(logger.errors[0]?.message).toContain('name who parks the login with `by`')
  })
})

it('parking and going on are told', async () => {
  const { auth, client } = make()
  const told: unknown[] = []
  auth.on('loginParked', ({ by, login }) => void told.push(['parked', by, login.user.name]))
  auth.on('loginResumed', ({ by }) => void told.push(['resumed', by]))
  const browser = client()
  await begin(browser)
  await browser.post('/two-factor', { yes: '1' })
  expect(told).toEqual([
    ['parked', 'two-factor', 'ada'],
    ['resumed', 'two-factor'],
  ])
})

it('a type cleans up by onFailed when its sign-in is refused', async () => {
  const cleaned: unknown[] = []
  const { auth, client } = make({ plugins: [] })
  auth.use({
    name: 'own',
    setup(kernel) {
      kernel.providerType(
        'own' as never,
        {
          finish: async () => ({
            user: { name: 'x' },
            account: { provider: 'own', type: 'own' as never, providerAccountId: '1' },
            match: 'none',
            onFailed: (error: Error) => void cleaned.push(error.name),
          }),
        } as never,
      )
      kernel.provider({ id: 'own', name: 'Own', type: 'own' } as never)
      kernel.hook('signIn', ({ account }) => account.provider !== 'own')
    },
  })
  await client().post('/callback/own')
  expect(cleaned).toEqual(['AccessDenied'])
})
