import { type Adapter, type AdapterUser, type AuthError, type Events, type SignInQuestion, type User, Verification } from 'authkernel'
import { describe, expect, it } from 'vitest'
import { counted, createHost, errorAt, type Host, origin, verifyRequest } from './_email-host.ts'

const address = 'ada@mail.example'
const strategies = ['database', 'jwt'] as const

/** A host that mailed one link, and who asked for it. */
async function mailed(...args: Parameters<typeof createHost>): Promise<Host & { ada: ReturnType<Host['person']> }> {
  const host = createHost(...args)
  const ada = host.person()
  expect(await ada.ask(address, { callbackUrl: '/dash' })).toBe(verifyRequest)
  return { ...host, ada }
}

/** The link with other values. */
function altered(link: string, change: Record<string, string | undefined>): string {
  const url = new URL(link)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}

/** An adapter that finds and deletes in two steps, with a pause between. */
const naive = (adapter: Required<Adapter>): Adapter => ({
  ...adapter,
  async useVerificationToken(key) {
    const row = await adapter.useVerificationToken(key)
    if (row) await adapter.createVerificationToken(row)
    await new Promise((resolve) => setImmediate(resolve))
    await adapter.useVerificationToken(key)
    return row
  },
})

describe.each(strategies)('a link under the %s strategy', (strategy) => {
  const config = { session: { strategy } }

  it('rows 221, 223: signs in once, deletes the token, sets emailVerified, goes to the callback URL', async () => {
    const { ada, link, data, clock, errors } = await mailed({}, config)
    clock.advance(5_000)
    expect(await ada.open(link())).toBe(`${origin}/dash`)
    expect((await ada.session())?.user).toMatchObject({ email: address })
    expect(data.tokens.size).toBe(0)
    expect(data.accounts.size).toBe(0)
    const [user] = data.users.values()
    expect(user).toMatchObject({ email: address, emailVerified: new Date(clock.now()) })
    expect(errors).toEqual([])
  })

  it('rows 222, 355: used again, for another user, altered, expired: Verification, no session, no user created', async () => {
    const { ada, link, data, clock, logged, person } = await mailed({}, config)
    const wrong = [
      altered(link(), { token: 'f'.repeat(64) }),
      altered(link(), { email: 'eve@evil.example' }),
      altered(link(), { email: 'ADA@mail.example' }),
      altered(link(), { email: `${address}\u0000` }),
      altered(link(), { email: undefined }),
      `${link()}&token=x`,
      `${link()}&email=eve@evil.example`,
    ]
    for (const url of wrong) expect(await person().open(url)).toBe(errorAt('Verification'))
    expect(logged()).toEqual(wrong.map(() => 'Verification'))
    expect(data.users.size).toBe(0)
    // GHSA-pg53-56cg-4m8q: none of them spent it.
    expect(data.tokens.size).toBe(1)
    expect(await ada.open(link())).toBe(`${origin}/dash`)
    expect(await person().open(link())).toBe(errorAt('Verification'))
    expect(data.users.size).toBe(1)

    await ada.ask(address)
    clock.advance(600_000)
    const late = person()
    expect(await late.open(link())).toBe(errorAt('Verification'))
    expect(await late.session()).toBeNull()
    // An expired link is spent too.
    expect(data.tokens.size).toBe(0)
  })

  it('row 216: a link works until the last millisecond', async () => {
    const { ada, link, clock } = await mailed({}, config)
    clock.advance(599_999)
    expect(await ada.open(link())).toBe(`${origin}/dash`)
  })

  it('row 223, D16: emailVerified is written at the first sign-in only', async () => {
    const calls: string[] = []
    const { ada, link, data, clock } = await mailed({}, config, (adapter) => counted(adapter, calls))
    await ada.open(link())
    const first = [...data.users.values()][0]?.emailVerified
    clock.advance(60_000)
    await ada.ask(address)
    calls.length = 0
    await ada.open(link())
    expect(calls).not.toContain('updateUser')
    expect([...data.users.values()][0]?.emailVerified).toEqual(first)
  })

  it('row 223: an existing user who never proved the address does so now', async () => {
    const { ada, link, data, adapter, clock } = await mailed({}, config)
    adapter.createUser({ id: 'u1', email: address, emailVerified: null } as AdapterUser)
    await ada.open(link())
    expect([...data.users.values()]).toMatchObject([{ id: 'u1', emailVerified: new Date(clock.now()) }])
    expect((await ada.session())?.user).toMatchObject({ email: address })
  })

  it('B8, D35: twenty parallel requests make one session', async () => {
    const { link, data, person } = await mailed({}, config)
    const people = Array.from({ length: 20 }, () => person())
    const answers = await Promise.all(people.map((person) => person.open(link())))
    expect(answers.filter((answer) => answer === `${origin}/dash`)).toHaveLength(1)
    expect(answers.filter((answer) => answer === errorAt('Verification'))).toHaveLength(19)
    expect(data.users.size).toBe(1)
    const sessions = await Promise.all(people.map((person) => person.session()))
    expect(sessions.filter(Boolean)).toHaveLength(1)
  })

  it('B9, D48: also with an adapter that finds and deletes in two steps', async () => {
    const { link, data, person } = await mailed({}, config, naive)
    const people = Array.from({ length: 20 }, () => person())
    const answers = await Promise.all(people.map((person) => person.open(link())))
    expect(answers.filter((answer) => answer === `${origin}/dash`)).toHaveLength(1)
    expect(data.users.size).toBe(1)
    expect((await Promise.all(people.map((person) => person.session()))).filter(Boolean)).toHaveLength(1)
  })

  it('D48: losing the race leaves a session that was there before alone', async () => {
    const { ada, link } = await mailed({}, config)
    await ada.open(link())
    expect(await ada.open(link())).toBe(errorAt('Verification'))
    expect((await ada.session())?.user).toMatchObject({ email: address })
  })

  it('a host whose tokens repeat may use the same one again later', async () => {
    const { ada, link, clock } = await mailed({ generateVerificationToken: () => '123456' }, config)
    expect(await ada.open(link())).toBe(`${origin}/dash`)
    clock.advance(1_000)
    await ada.ask(address)
    expect(await ada.open(link())).toBe(`${origin}/dash`)
  })

  it('row 224: the database session of another user ends', async () => {
    const { ada, link, data, mails } = await mailed({}, config)
    await ada.open(link())
    await ada.ask('bob@mail.example')
    await ada.open(mails.at(-1)!.url)
    expect((await ada.session())?.user).toMatchObject({ email: 'bob@mail.example' })
    expect(data.sessions.size).toBe(strategy === 'database' ? 1 : 0)
  })
})

describe('what adapters may do', () => {
  const lies: [string, (row: { identifier: string; token: string; expires: Date }) => unknown][] = [
    ['another address', (row) => ({ ...row, identifier: 'eve@evil.example' })],
    ['another token', (row) => ({ ...row, token: 'f'.repeat(64) })],
    ['an expired row', (row) => ({ ...row, expires: new Date(0) })],
  ]
  it.each(lies)('GHSA-4rxr-27mm-mxq9: a row of %s signs no user in', async (_what, lie) => {
    const { ada, link, data, logged } = await mailed({}, {}, (adapter) => ({
      ...adapter,
      useVerificationToken: async (key) => lie((await adapter.useVerificationToken(key))!) as never,
    }))
    expect(await ada.open(link())).toBe(errorAt('Verification'))
    expect(data.users.size).toBe(0)
    expect(logged()).toEqual(['Verification'])
  })

  it('D26: an expiry stored as text or number counts', async () => {
    for (const stored of [(date: Date) => date.toISOString(), (date: Date) => date.getTime()]) {
      const { ada, link } = await mailed({}, {}, (adapter) => ({
        ...adapter,
        useVerificationToken: async (key) => {
          const row = await adapter.useVerificationToken(key)
          return (row && { ...row, expires: stored(row.expires) }) as never
        },
      }))
      expect(await ada.open(link())).toBe(`${origin}/dash`)
    }
  })

  it.each([[undefined], [{}], [{ identifier: address }], [{ identifier: address, token: 't', expires: 'never' }], ['row']])(
    'SECURITY 5.2: the answer %j signs no user in',
    async (answer) => {
      const { ada, link, data } = await mailed({}, {}, (adapter) => ({ ...adapter, useVerificationToken: () => answer as never }))
      expect(await ada.open(link())).toContain('/auth/error?error=')
      expect(data.users.size).toBe(0)
      expect(await ada.session()).toBeNull()
    },
  )
})

describe('without a token', () => {
  it('the link without its token is a mistake of its author', async () => {
    const { ada, link, logged, data } = await mailed()
    expect(await ada.open(altered(link(), { token: undefined }))).toBe(errorAt('Configuration'))
    expect(await ada.open(altered(link(), { token: '' }))).toBe(errorAt('Configuration'))
    expect(logged()).toEqual(['CallbackRouteError', 'CallbackRouteError'])
    expect(data.tokens.size).toBe(1)
  })
})

describe('confirm', () => {
  const hiddenFields = (html: string): Record<string, string> =>
    Object.fromEntries(
      [...html.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
        /name="([^"]*)"/.exec(input)?.[1] ?? '',
        (/value="([^"]*)"/.exec(input)?.[1] ?? '').replaceAll('&amp;', '&'),
      ]),
    )

  it('row 228, D17: opening the link any number of times uses nothing up, the button signs in', async () => {
    const { ada, link, data } = await mailed({ confirm: true })
    for (let i = 0; i < 3; i++) {
      const page = await ada.get(link())
      expect(page.status).toBe(200)
      expect(page.headers.get('set-cookie') ?? '').not.toContain('session-token')
    }
    const html = await (await ada.get(link())).text()
    expect(data.tokens.size).toBe(1)
    const action = /<form action="([^"]*)" method="post">/.exec(html)?.[1]
    const fields = hiddenFields(html)
    expect(action).not.toContain('token')
    const answer = await ada.send(new URL(action!, origin).href, { method: 'POST', body: new URLSearchParams(fields) })
    expect(answer.headers.get('location')).toBe(`${origin}/dash`)
    expect((await ada.session())?.user).toMatchObject({ email: address })
    expect(data.tokens.size).toBe(0)
  })

  it('row 228: the button needs the CSRF token of the page', async () => {
    const { ada, link, data } = await mailed({ confirm: true })
    const fields = hiddenFields(await (await ada.get(link())).text())
    const body = new URLSearchParams({ ...fields, csrfToken: 'f'.repeat(64) })
    const answer = await ada.send('/callback/mail', { method: 'POST', body })
    expect(answer.headers.get('location')).toContain('error=MissingCSRF')
    expect(data.tokens.size).toBe(1)
  })

  it('rows 222, 284: the page shows an address as text, and a wrong one ends in Verification', async () => {
    const { ada, link } = await mailed({ confirm: true })
    const html = await (await ada.get(altered(link(), { email: '"><script>alert(1)</script>' }))).text()
    expect(html).not.toContain('<script>alert')
    const answer = await ada.post('/callback/mail', { token: 'x', email: '"><script>' })
    expect(answer.headers.get('location')).toBe(errorAt('Verification'))
  })

  it('row 222: token and email given twice in the form are refused', async () => {
    const { ada, link, data } = await mailed({ confirm: true })
    const { searchParams } = new URL(link())
    const csrfToken = await ada.csrfToken()
    const twice = `token=${searchParams.get('token')}&token=x&email=${address}&csrfToken=${csrfToken}`
    const answer = await ada.send('/callback/mail', {
      method: 'POST',
      body: twice,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer.headers.get('location')).toBe(errorAt('Verification'))
    expect(data.tokens.size).toBe(1)
  })
})

describe('HEAD', () => {
  it('D17: HEAD never uses a link', async () => {
    const { ada, link, data } = await mailed()
    expect((await ada.send(link(), { method: 'HEAD' })).status).toBe(400)
    expect(data.tokens.size).toBe(1)
    expect(await ada.open(link())).toBe(`${origin}/dash`)
  })
})

describe('rotation of secrets', () => {
  it('D3: a link mailed before works after, under the old secret second', async () => {
    const before = await mailed()
    const secrets = ['a-new-secret-of-more-than-32-characters!!', 'a-secret-of-more-than-32-characters-for-tests']
    const after = createHost({}, { secret: secrets }, () => before.adapter)
    expect(await after.person().open(before.link())).toBe(`${origin}/dash`)
    const removed = createHost({}, { secret: secrets[0] }, () => before.adapter)
    await before.ada.ask(address)
    expect(await removed.person().open(before.link())).toBe(errorAt('Verification'))
  })
})

describe('guessing', () => {
  it('ASVS 6.6.3: short tokens of a host can be tried ten times per address', async () => {
    const { ada, link, person } = await mailed({ generateVerificationToken: () => '123456' })
    for (let i = 0; i < 10; i++) expect(await person().open(altered(link(), { token: String(i) }))).toBe(errorAt('Verification'))
    expect(await ada.open(link())).toBe(errorAt('Verification'))
  })

  it('a store that is away is no wrong guess of a short token', async () => {
    let down = false
    const { ada, link } = await mailed({ generateVerificationToken: () => '123456' }, {}, (adapter) => ({
      ...adapter,
      useVerificationToken: (key) => (down ? Promise.reject(new Error('down')) : adapter.useVerificationToken(key)),
    }))
    down = true
    for (let i = 0; i < 15; i++) expect(await ada.open(link())).toContain('error=Configuration')
    down = false
    expect(await ada.open(link())).toBe(`${origin}/dash`)
  })

  it('ASVS 6.6.3: an attacker cannot lock out a link with a long token', async () => {
    const { ada, link, person } = await mailed()
    for (let i = 0; i < 30; i++) await person().open(altered(link(), { token: String(i) }))
    expect(await ada.open(link())).toBe(`${origin}/dash`)
  })
})

describe('callbacks and events', () => {
  it('rows 136, 220, 350: signIn is asked before the mail and after the click, with user and account', async () => {
    const asked: SignInQuestion[] = []
    const signedIn: Events['signIn'][] = []
    const { ada, link, data } = await mailed(
      {},
      {
        callbacks: { signIn: (question) => asked.push(structuredClone(question)) > 0 },
        events: { signIn: (event) => signedIn.push(event) },
      },
    )
    const user = { email: address, emailVerified: null, id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string }
    expect(asked).toEqual([
      {
        user,
        account: { provider: 'mail', type: 'email', providerAccountId: address, userId: asked[0]?.user.id },
        email: { verificationRequest: true },
      },
    ])
    await ada.open(link())
    const [stored] = data.users.values()
    // The account names its owner, who is made with this very id.
    expect(asked[1]).toEqual({ user, account: { provider: 'mail', type: 'email', providerAccountId: address, userId: stored?.id } })
    expect(signedIn).toMatchObject([
      { user: { email: address }, account: { provider: 'mail', providerAccountId: address }, isNewUser: true },
    ])

    asked.length = 0
    await ada.ask(address)
    expect(asked[0]).toMatchObject({ user: { id: stored?.id }, account: { userId: stored?.id } })
    await ada.open(link())
    expect(asked[1]).toMatchObject({ user: { id: stored?.id }, account: { userId: stored?.id } })
    expect(signedIn[1]).toMatchObject({ user: { id: stored?.id }, isNewUser: false })
  })

  it('createUser before signIn, no account is linked', async () => {
    const told: string[] = []
    const on = (name: string) => () => void told.push(name)
    const events = { createUser: on('createUser'), updateUser: on('updateUser'), linkAccount: on('linkAccount'), signIn: on('signIn') }
    const { ada, link } = await mailed({}, { events })
    expect(told).toEqual([])
    await ada.open(link())
    expect(told).toEqual(['createUser', 'signIn'])
  })

  it('row 137: signIn answering a URL redirects, and no mail goes out', async () => {
    const host = createHost({}, { callbacks: { signIn: () => '/waiting-list' } })
    expect(await host.person().ask(address)).toBe(`${origin}/waiting-list`)
    expect(host.mails).toEqual([])
    expect(host.data.tokens.size).toBe(0)
  })

  it('D17: a refused address gets the usual answer and no mail; log and event know', async () => {
    const failed: { provider: string | undefined; error: AuthError; user?: User }[] = []
    const host = createHost({}, { callbacks: { signIn: () => false }, events: { signInFailed: (event) => void failed.push(event) } })
    expect(await host.person().ask(address)).toBe(verifyRequest)
    expect(host.mails).toEqual([])
    expect(host.logged()).toEqual(['AccessDenied'])
    expect(failed).toMatchObject([{ provider: 'mail', error: { type: 'AccessDenied' }, user: { email: address } }])
  })

  it('row 229, D17: refused, throttled, known and unknown addresses cannot be told apart', async () => {
    const host = createHost(
      {},
      { throttle: { mail: { max: 1, seconds: 600 } }, callbacks: { signIn: ({ user }) => user.email !== 'eve@mail.example' } },
    )
    host.adapter.createUser({ id: 'u1', email: 'known@mail.example', emailVerified: null })
    await host.person().ask('often@mail.example')
    const looks = []
    for (const name of ['known', 'unknown', 'eve', 'often']) {
      const person = host.person()
      const csrfToken = await person.csrfToken()
      const body = new URLSearchParams({ csrfToken, email: `${name}@mail.example`, callbackUrl: '/dash' })
      const response = await person.send('/signin/mail', { method: 'POST', body })
      looks.push({
        status: response.status,
        headers: [...response.headers],
        cookies: [...person.cookies.keys()],
        body: await response.text(),
      })
    }
    expect(new Set(looks.map((look) => JSON.stringify(look))).size).toBe(1)
    expect(looks[0]?.cookies.join()).toContain('callback-url')
    expect(host.mails.map(({ identifier }) => identifier)).toEqual(['often@mail.example', 'known@mail.example', 'unknown@mail.example'])
  })

  it('the redirect callback runs once, before anything else', async () => {
    const order: string[] = []
    const { ada, link } = await mailed(
      {},
      {
        callbacks: {
          redirect: ({ url }) => (order.push('redirect'), new URL(url, origin).href),
          signIn: () => order.push('signIn') > 0,
        },
      },
      (adapter) => counted(adapter, order),
    )
    expect(order).toEqual(['redirect', 'getUserByEmail', 'signIn', 'createVerificationToken'])
    order.length = 0
    await ada.open(link())
    expect(order.slice(0, 4)).toEqual(['redirect', 'useVerificationToken', 'getUserByEmail', 'signIn'])
    expect(order.filter((name) => name === 'redirect')).toHaveLength(1)
  })

  it('row 137, D17: with revealDenied it gets AccessDenied', async () => {
    const host = createHost({ revealDenied: true }, { callbacks: { signIn: () => false } })
    expect(await host.person().ask(address)).toBe(errorAt('AccessDenied'))
    expect(host.logged()).toEqual(['AccessDenied'])
  })

  it.each([new Error('quota'), new Verification('an AuthError')])(
    'rows 137, 138: whatever signIn throws before the mail is AccessDenied with its cause',
    async (thrown) => {
      const host = createHost(
        {},
        {
          callbacks: {
            signIn: () => {
              throw thrown
            },
          },
        },
      )
      expect(await host.person().ask(address)).toBe(errorAt('AccessDenied'))
      expect(host.mails).toEqual([])
      expect(host.errors).toMatchObject([{ type: 'AccessDenied', cause: { err: thrown } }])
    },
  )

  it('row 137: a refusal after the click is AccessDenied, and no user is created', async () => {
    const { ada, link, data } = await mailed({}, { callbacks: { signIn: ({ email }) => email?.verificationRequest === true } })
    expect(await ada.open(link())).toBe(errorAt('AccessDenied'))
    expect(data.users.size).toBe(0)
  })

  it('row 36: pages.newUser after the first sign-in', async () => {
    const { ada, link } = await mailed({}, { pages: { newUser: '/welcome' } })
    expect(await ada.open(link())).toBe(`/welcome?callbackUrl=${encodeURIComponent(`${origin}/dash`)}`)
  })
})
