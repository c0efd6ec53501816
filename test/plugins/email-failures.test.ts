import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Adapter, AuthConfig, AuthError, EmailConfig, VerificationRequest } from 'authkernel'
import { describe, expect, it } from 'vitest'
import { createHost, errorAt, origin, verifyRequest } from './_email-host.ts'

const address = 'ada@mail.example'
const never = new Promise<never>(() => {})

/** A port of this machine where no server listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const broken: [string, Partial<EmailConfig>, AuthConfig?][] = [
  [
    'throws at once',
    {
      sendVerificationRequest() {
        throw new Error('no route')
      },
    },
  ],
  ['rejects', { sendVerificationRequest: () => Promise.reject(new Error('no route')) }],
  ['rejects with a text', { sendVerificationRequest: () => Promise.reject('no route' as never) }],
  ['rejects with nothing', { sendVerificationRequest: () => Promise.reject(undefined as never) }],
  ['never ends', { sendVerificationRequest: () => never }, { deadlines: { network: 30 } }],
  ['outlives the request', { sendVerificationRequest: () => never }, { deadlines: { network: 60_000, request: 40 } }],
  ['has a lib without createTransport', { server: 'smtp://127.0.0.1:1', lib: () => ({}) }],
  ['cannot load its lib', { server: 'smtp://127.0.0.1:1', lib: () => Promise.reject(new Error('not installed')) }],
]

describe('a mail that cannot be sent', () => {
  it.each(broken)(
    'row 229: a transport that %s: error page for everybody, one log entry, token taken back',
    async (_what, provider, config) => {
      for (const known of [false, true]) {
        const host = createHost(provider, config)
        if (known) host.adapter.createUser({ id: 'u1', email: address, emailVerified: null })
        expect(await host.person().ask(address)).toBe(errorAt('Configuration'))
        expect(host.errors).toHaveLength(1)
        await expect.poll(() => host.data.tokens.size).toBe(0)
      }
    },
  )

  it('row 226: the log says provider and reason, and is an EmailSignInError', async () => {
    const host = createHost({ sendVerificationRequest: () => Promise.reject(new Error('no route', { cause: new Error('ECONNREFUSED') })) })
    await host.person().ask(address)
    const [error] = host.errors
    expect(error).toMatchObject({ type: 'EmailSignInError', cause: { provider: 'mail' } })
    expect(error?.message).toBe('Provider "mail" could not send the mail with the sign-in link: no route: ECONNREFUSED')
  })

  it('a refused SMTP port, again and again, with sign-ins at the same time', async () => {
    const host = createHost({ server: { host: '127.0.0.1', port: await closedPort() } }, { throttle: false })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => host.person().ask(`user${i}@mail.example`)))
    expect(new Set(answers)).toEqual(new Set([errorAt('Configuration')]))
    expect(host.logged()).toEqual(answers.map(() => 'EmailSignInError'))
    expect(host.data.tokens.size).toBe(0)
  })

  it('an SMTP server that accepts and says nothing is given up', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const host = createHost({ server: { host: '127.0.0.1', port } }, { deadlines: { network: 60 } })
    expect(await host.person().ask(address)).toBe(errorAt('Configuration'))
    expect(host.errors[0]?.message).toContain('no answer within 60 ms')
    expect(host.data.tokens.size).toBe(0)
    server.close()
    // The connection was closed with the mail, or this would wait.
    await once(server, 'close')
  })

  it.each([200, 500])('row 226: an HTTP mailer that is down or answers %i', async (status) => {
    const fetch: typeof globalThis.fetch = async () =>
      status === 200 ? Promise.reject(new TypeError('fetch failed')) : new Response('{"message":"bad"}', { status })
    const api = { url: 'https://mail.example/send', body: { to: '{to}' } }
    const host = createHost({ api }, { runtime: { fetch } })
    expect(await host.person().ask(address)).toBe(errorAt('Configuration'))
    expect(host.logged()).toEqual(['EmailSignInError'])
    expect(host.data.tokens.size).toBe(0)
  })

  it('GHSA-p6mm-27gq-9v3p: no secret is logged, whatever the transport repeats', async () => {
    const debugs: unknown[] = []
    const errors: AuthError[] = []
    let sent: VerificationRequest | undefined
    const host = createHost(
      {
        apiKey: 'api-key-canary',
        secret: 'provider-secret-canary',
        server: { host: 'mail.example', auth: { user: 'u', pass: 'smtp-password-canary' } },
        sendVerificationRequest(mail) {
          sent = mail
          throw new Error(`could not post ${mail.url} ${mail.token} ${mail.provider.apiKey} smtp-password-canary provider-secret-canary`, {
            cause: new Error(`inner ${mail.token}`),
          })
        },
      },
      {
        debug: true,
        logger: { error: (error) => void errors.push(error as AuthError), warn: () => {}, debug: (...entry) => void debugs.push(entry) },
      },
    )
    await host.person().ask(address)
    const log = JSON.stringify([
      debugs,
      errors.map((error) => [error.message, error.stack, error.cause, error.cause?.err?.message, error.cause?.err?.stack]),
    ])
    expect(log).toContain('could not post [redacted]')
    expect(log).not.toContain('canary')
    expect(log).not.toContain(sent?.token)
  })

  it('D44: the row is written before the mail goes out', async () => {
    const order: string[] = []
    const host = createHost({ sendVerificationRequest: () => void order.push('mail') }, {}, (adapter) => ({
      ...adapter,
      async createVerificationToken(token) {
        await new Promise((resolve) => setImmediate(resolve))
        order.push('row')
        return adapter.createVerificationToken(token)
      },
    }))
    await host.person().ask(address)
    expect(order).toEqual(['row', 'mail'])
  })

  it('SECURITY 5.2: a mail that fails after its deadline is not an unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    let fail: (error: Error) => void = () => {}
    const host = createHost(
      { sendVerificationRequest: () => new Promise((_resolve, reject) => (fail = reject)) },
      { deadlines: { network: 20 } },
    )
    await host.person().ask(address)
    fail(new Error('too late'))
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
    expect(host.errors).toHaveLength(1)
  })
})

describe('the store', () => {
  type Method = 'getUserByEmail' | 'createVerificationToken' | 'useVerificationToken' | 'createUser' | 'createSession'
  const faults: [string, () => unknown, AuthConfig][] = [
    [
      'throws',
      () => {
        throw new Error('db canary')
      },
      {},
    ],
    ['rejects', () => Promise.reject(new Error('db canary')), {}],
    ['hangs', () => never, { deadlines: { store: 30 } }],
    ['answers nonsense', () => 42, {}],
  ]
  /** The `at`-th call of an operation goes wrong, once. */
  const faulty =
    (method: Method, fault: () => unknown, at = 1) =>
    (adapter: Required<Adapter>): Adapter => {
      let calls = 0
      const operation = adapter[method] as (...args: unknown[]) => unknown
      return { ...adapter, [method]: (...args: unknown[]) => (++calls === at ? fault() : operation(...args)) }
    }

  for (const method of ['getUserByEmail', 'createVerificationToken'] as const) {
    it.each(faults)(`${method} %s when a link is asked for: error page, no mail, and the next try works`, async (what, fault, config) => {
      const host = createHost({}, config, faulty(method, fault))
      const ada = host.person()
      const answer = await ada.ask(address)
      // What createVerificationToken answers is not read.
      if (what === 'answers nonsense' && method === 'createVerificationToken') return expect(answer).toBe(verifyRequest)
      expect(answer).toBe(errorAt('Configuration'))
      expect(answer).not.toContain('canary')
      expect(host.mails).toEqual([])
      expect(host.logged()).toEqual(['AdapterError'])
      expect(await ada.ask(address)).toBe(verifyRequest)
      expect(await ada.open(host.link())).toBe(origin)
    })
  }

  it.each(faults)('useVerificationToken %s: the link is not spent and works when the store does', async (_what, fault, config) => {
    const host = createHost({}, config, faulty('useVerificationToken', fault))
    const ada = host.person()
    await ada.ask(address)
    expect(await ada.open(host.link())).toBe(errorAt('Configuration'))
    expect(await ada.session()).toBeNull()
    expect(host.logged()).toEqual(['AdapterError'])
    expect(await ada.open(host.link())).toBe(origin)
    expect((await ada.session())?.user).toMatchObject({ email: address })
  })

  for (const [method, at] of [
    ['getUserByEmail', 2],
    ['createUser', 1],
    ['createSession', 1],
  ] as const) {
    it.each(faults)(`${method} %s after the link was used: the same link works once more`, async (_what, fault, config) => {
      const host = createHost({}, { session: { strategy: 'database' }, ...config }, faulty(method, fault, at))
      const ada = host.person()
      await ada.ask(address)
      const link = host.link()
      expect(await ada.open(link)).toBe(errorAt('Configuration'))
      expect(await ada.session()).toBeNull()
      expect(host.logged()).toEqual(['AdapterError'])
      expect(await ada.open(link)).toBe(origin)
      expect((await ada.session())?.user).toMatchObject({ email: address })
      expect(host.data.users.size).toBe(1)
      // Once: a link does not live on.
      expect(await host.person().open(link)).toBe(errorAt('Verification'))
    })
  }

  it('a link is given back once only, and not to a request that lost the race', async () => {
    let down = true
    const host = createHost({}, { session: { strategy: 'database' } }, (adapter) => ({
      ...adapter,
      createSession: (session) => (down ? Promise.reject(new Error('down')) : adapter.createSession(session)),
    }))
    await host.person().ask(address)
    const link = host.link()
    const all = (): Promise<string[]> => Promise.all(Array.from({ length: 10 }, () => host.person().open(link)))
    const first = await all()
    expect(first.filter((answer) => answer === origin)).toEqual([])
    down = false
    const second = await all()
    expect(second.filter((answer) => answer === origin).length).toBeLessThanOrEqual(1)
    const third = await all()
    expect([...second, ...third].filter((answer) => answer === origin).length).toBeLessThanOrEqual(1)
    expect(host.data.sessions.size).toBeLessThanOrEqual(1)
    expect(host.data.tokens.size).toBe(0)
  })

  it('a store that fails when the token is taken back does not hide the failed mail', async () => {
    const host = createHost({ sendVerificationRequest: () => Promise.reject(new Error('no route')) }, {}, (adapter) => ({
      ...adapter,
      useVerificationToken: () => Promise.reject(new Error('down')),
    }))
    expect(await host.person().ask(address)).toBe(errorAt('Configuration'))
    expect(host.logged()).toEqual(['EmailSignInError'])
  })
})

describe('throttle', () => {
  it('B30, D54: three mails to one address in ten minutes, then the same answer and no mail', async () => {
    const host = createHost()
    for (let i = 0; i < 50; i++) expect(await host.person().ask(address)).toBe(verifyRequest)
    expect(host.mails).toHaveLength(3)
    expect(host.data.tokens.size).toBe(3)
    expect(host.errors).toEqual([])
    // Spelling does not matter, other people do not suffer.
    await host.person().ask(' ADA@Mail.Example ')
    expect(host.mails).toHaveLength(3)
    await host.person().ask('bob@mail.example')
    expect(host.mails).toHaveLength(4)
    host.clock.advance(600_000)
    await host.person().ask(address)
    expect(host.mails).toHaveLength(5)
  })

  it('parallel requests are counted too', async () => {
    const host = createHost()
    await Promise.all(Array.from({ length: 30 }, () => host.person().ask(address)))
    expect(host.mails).toHaveLength(3)
  })

  it('D54: options change it and switch it off', async () => {
    const one = createHost({}, { throttle: { mail: { max: 1, seconds: 60 } } })
    for (let i = 0; i < 3; i++) await one.person().ask(address)
    expect(one.mails).toHaveLength(1)
    for (const throttle of [false, { mail: false }] as const) {
      const off = createHost({}, { throttle })
      for (let i = 0; i < 10; i++) await off.person().ask(address)
      expect(off.mails).toHaveLength(10)
    }
  })

  it('D54: a mail that failed is not counted', async () => {
    let down = true
    const sent: string[] = []
    const host = createHost({
      sendVerificationRequest({ identifier }) {
        if (down) throw new Error('down')
        sent.push(identifier)
      },
    })
    for (let i = 0; i < 5; i++) expect(await host.person().ask(address)).toBe(errorAt('Configuration'))
    down = false
    for (let i = 0; i < 5; i++) expect(await host.person().ask(address)).toBe(verifyRequest)
    expect(sent).toHaveLength(3)
  })

  it('D54: a refused address uses up nothing', async () => {
    let invited = false
    const host = createHost({}, { callbacks: { signIn: () => invited } })
    for (let i = 0; i < 5; i++) await host.person().ask(address)
    invited = true
    await host.person().ask(address)
    expect(host.mails).toHaveLength(1)
  })
})
