/** Passkeys in order, and what every answer of the signIn callback does in every flow. */
import { describe, expect, it } from 'vitest'
import { AccountNotLinked } from 'authkernel'
import { Authenticator, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { createWorld, type Strategy, type World } from './_world.ts'

const ok = 'http://localhost:3000'
const sessionCookie = 'authkernel.session-token'

const post = async (world: World, path: string, fields: Record<string, string>) => {
  const csrfToken = await world.client.csrfToken()
  return world.during(() => world.client.send(path, { method: 'POST', body: new URLSearchParams({ csrfToken, ...fields }) }))
}
const optionsOf = async <T>(world: World, query: string): Promise<T> =>
  ((await (await world.client.get(`/webauthn-options/passkey?${query}`)).json()) as { options: T }).options
const register = async (world: World, authenticator: Authenticator, query = 'action=register&email=ann@example.com') => {
  const data = authenticator.create(await optionsOf<CreationOptions>(world, query))
  return post(world, '/callback/passkey', { action: 'register', data })
}
const authenticate = async (world: World, authenticator: Authenticator) => {
  const data = authenticator.get(await optionsOf<RequestOptions>(world, 'action=authenticate'))
  return post(world, '/callback/passkey', { action: 'authenticate', data })
}

describe.each(['database', 'jwt'] as const)('passkeys under the %s strategy', (strategy) => {
  it('rows 154, 247: 9.10, register: user, account, authenticator, then the session; events after the writes', async () => {
    const world = createWorld(strategy)
    const { response, seen } = await register(world, new Authenticator(ok))
    expect(seen).toEqual([
      'cb.redirect',
      'cb.signIn',
      'ad.getUserByAccount',
      'ad.getUserByEmail',
      'ad.createUser',
      'ad.linkAccount',
      'ad.createAuthenticator',
      'ev.createUser',
      'ev.linkAccount',
      strategy === 'jwt' ? 'cb.jwt' : 'ad.createSession',
      'ev.signIn',
    ])
    expect(response.headers.get('location')).toBe(ok)
    expect(world.messages('cb.signIn')).toMatchObject([
      { user: { email: 'ann@example.com' }, account: { provider: 'passkey', type: 'webauthn' } },
    ])
    if (strategy === 'jwt') expect(world.messages('cb.jwt')).toMatchObject([{ trigger: 'signUp', isNewUser: true }])
    expect(world.messages('ev.signIn')).toMatchObject([{ user: { email: 'ann@example.com' }, isNewUser: true }])
  })

  it('rows 250, 253: 9.11, authenticate: the counter, the account, the user, then the session', async () => {
    const world = createWorld(strategy)
    const authenticator = new Authenticator(ok)
    await register(world, authenticator)
    world.client.cookies.delete(sessionCookie)
    const { seen } = await authenticate(world, authenticator)
    expect(seen.filter((name) => !name.startsWith('ad.get'))).toEqual([
      'cb.redirect',
      'ad.updateAuthenticatorCounter',
      'cb.signIn',
      strategy === 'jwt' ? 'cb.jwt' : 'ad.createSession',
      'ev.signIn',
    ])
    expect(world.messages('ev.signIn')).toMatchObject([{ user: { email: 'ann@example.com' }, isNewUser: false }])
  })
})

type Flow = (world: World) => Promise<{ response: Response; seen: string[] }>
const flows: [string, Strategy, Flow][] = [
  ['oidc', 'database', async (world) => world.during(async () => world.client.get(await world.toProvider('oidc')))],
  ['oauth', 'jwt', async (world) => world.during(async () => world.client.get(await world.toProvider('oauth')))],
  ['credentials', 'jwt', (world) => post(world, '/callback/password', { password: 'right' })],
  ['passkey', 'database', (world) => register(world, new Authenticator(ok))],
  [
    'email link',
    'database',
    async (world) => {
      // The question before the mail is another one: answered yes here.
      const { signIn } = world.answers
      world.answers.signIn = () => true
      await post(world, '/signin/mail', { email: 'ann@example.com' })
      if (signIn) world.answers.signIn = signIn
      return world.during(() => world.client.get(world.mails[0]?.url ?? ''))
    },
  ],
]
const writes = /^ad\.(?:create(?!VerificationToken)|link|update)/

describe.each(flows)('9.16: signIn answers in the flow of %s', (name, strategy, flow) => {
  it('rows 137, 141: true goes on, and is asked before any write', async () => {
    const world = createWorld(strategy)
    world.answers.signIn = () => true
    const { response, seen } = await flow(world)
    expect(response.headers.get('location')).toBe(ok)
    expect(await world.client.session()).not.toBeNull()
    const asked = seen.indexOf('cb.signIn')
    expect(seen.slice(0, asked).filter((call) => writes.test(call))).toEqual([])
  })

  it.each([
    ['false', () => false],
    ['nothing: a forgotten return lets no user in', () => null],
    ['an empty text', () => ''],
    ['1, which is not true', () => 1],
  ])('row 137: %s is AccessDenied, and nothing was written', async (_name, answer) => {
    const world = createWorld(strategy)
    world.answers.signIn = answer
    const { response, seen } = await flow(world)
    expect(response.headers.get('location')).toBe(`${ok}/auth/error?error=AccessDenied`)
    expect(seen.at(-1)).toBe('ev.signInFailed')
    expect(seen.filter((call) => writes.test(call))).toEqual([])
    expect(await world.client.session()).toBeNull()
    expect(world.data.users.size).toBe(0)
  })

  it('row 138: an error thrown is AccessDenied with the message as cause, for the log only', async () => {
    const world = createWorld(strategy)
    world.answers.signIn = () => {
      throw new Error('the ledger says no')
    }
    const { response } = await flow(world)
    expect(response.headers.get('location')).toBe(`${ok}/auth/error?error=AccessDenied`)
    expect(world.options.logger.errors).toEqual([
      expect.objectContaining({
        name: 'AccessDenied',
        message: 'the ledger says no',
        cause: expect.objectContaining({ err: expect.any(Error) as Error }) as object,
      }),
    ])
  })

  it('row 139: an AuthError keeps its type in a callback', async () => {
    const world = createWorld(strategy)
    world.answers.signIn = () => {
      throw new AccountNotLinked('by hand')
    }
    expect((await flow(world)).response.headers.get('location')).toBe(`${ok}/auth/signin?error=AccountNotLinked`)
  })

  it('rows 75, 144: a text is where to go, past the redirect callback; a foreign one only with its leave', async () => {
    const world = createWorld(strategy)
    world.answers.signIn = () => '/apply'
    const { response, seen } = await flow(world)
    expect(response.headers.get('location')).toBe(`${ok}/apply`)
    expect(seen.slice(-2)).toEqual(['cb.signIn', 'cb.redirect'])
    expect(world.messages('cb.redirect').at(-1)).toEqual({ url: '/apply', baseUrl: ok })
    expect(await world.client.session()).toBeNull()

    const away = createWorld(strategy)
    away.answers.signIn = () => 'https://elsewhere.example/x'
    expect((await flow(away)).response.headers.get('location')).toBe(ok)
    const allowed = createWorld(strategy)
    allowed.answers.signIn = () => 'https://elsewhere.example/x'
    allowed.answers.redirect = ({ url }: { url: string }) => url
    const answer = (await flow(allowed)).response
    expect(answer.headers.get('location')).toBe('https://elsewhere.example/x')
    expect(name).not.toBe('')
  })
})

describe('9.16: the question before a mail is sent', () => {
  const ask = (world: World) => post(world, '/signin/mail', { email: 'ann@example.com' })

  it('row 137, D17: a refusal looks like any other answer, no mail goes out, and the log knows', async () => {
    const world = createWorld('database')
    world.answers.signIn = () => false
    const { response, seen } = await ask(world)
    expect(response.headers.get('location')).toBe(`${ok}/auth/verify-request?provider=mail&type=email`)
    expect(seen).toEqual(['cb.redirect', 'ad.getUserByEmail', 'cb.signIn', 'ev.signInFailed'])
    expect(world.mails).toEqual([])
    expect(world.options.logger.errors.map(({ name }) => name)).toEqual(['AccessDenied'])
  })

  it('rows 137, 139: whatever is thrown is AccessDenied here, AuthErrors too', async () => {
    const world = createWorld('database')
    world.answers.signIn = () => {
      throw new AccountNotLinked('by hand')
    }
    expect((await ask(world)).response.headers.get('location')).toBe(`${ok}/auth/error?error=AccessDenied`)
  })

  it('row 75: a text is where to go', async () => {
    const world = createWorld('database')
    world.answers.signIn = () => '/apply'
    expect((await ask(world)).response.headers.get('location')).toBe(`${ok}/apply`)
    expect(world.mails).toEqual([])
  })
})

describe('several hands', () => {
  it('the first no of a guard wins, from whichever hand; no later guard is asked', async () => {
    const world = createWorld('jwt', 'none')
    world.auth.use({ name: 'doorman', setup: (kernel) => void kernel.hook('signIn', () => false) })
    const { response } = await post(world, '/callback/password', { password: 'right' })
    expect(response.headers.get('location')).toBe(`${ok}/auth/error?error=AccessDenied`)
    expect(world.log.filter(({ what }) => what === 'cb.signIn').map(({ by }) => by)).toEqual(['plugin'])
  })

  it('a pipe hands the token on: plugin, options, hook; null of any hand ends it', async () => {
    const world = createWorld('jwt', 'none')
    world.answers.jwt = ({ token }: { token: object }) => ({ ...token, seen: 'by options' })
    await post(world, '/callback/password', { password: 'right' })
    const tokens = world.log
      .filter(({ what }) => what === 'cb.jwt')
      .map(({ by, message }) => [by, (message as { token: { seen?: string } }).token.seen])
    expect(tokens).toEqual([
      ['plugin', undefined],
      ['config', undefined],
      ['hook', 'by options'],
    ])
    world.answers.jwt = () => null
    expect(await world.client.session()).toBeNull()
    expect(world.client.cookies.has(sessionCookie)).toBe(false)
  })

  it('the host has the last word on a redirect', async () => {
    const world = createWorld('jwt', 'none')
    world.auth.use({ name: 'sender', setup: (kernel) => void kernel.hook('redirect', () => '/by-plugin') })
    expect((await post(world, '/signout', { callbackUrl: '/x' })).response.headers.get('location')).toBe('/by-plugin')
    world.answers.redirect = () => '/by-options'
    expect((await post(world, '/signout', { callbackUrl: '/x' })).response.headers.get('location')).toBe('/by-options')
    world.auth.hook('redirect', () => '/by-hook')
    expect((await post(world, '/signout', { callbackUrl: '/x' })).response.headers.get('location')).toBe('/by-hook')
  })

  it('row 367: events are awaited in order, their answers count for nothing', async () => {
    const world = createWorld('jwt', 'none')
    const order: string[] = []
    const wait = () => new Promise((resolve) => setImmediate(resolve))
    world.auth.on('signIn', async () => {
      await wait()
      order.push('slow')
      return { user: { name: 'Mallory' } }
    })
    world.auth.on('signIn', () => void order.push('next'))
    await post(world, '/callback/password', { password: 'right' })
    expect(order).toEqual(['slow', 'next'])
    expect(await world.client.session()).toMatchObject({ user: { name: 'Pat' } })
  })

  it('row 35: unknown names among callbacks and events are refused at start', async () => {
    for (const own of [{ callbacks: { nonsense: () => false } }, { events: { sginIn: () => {} } }])
      await expect(createWorld('jwt', 'none', own as never).auth.ready()).rejects.toThrow(/the (hook|event) "(nonsense|sginIn)"/)
  })
})
