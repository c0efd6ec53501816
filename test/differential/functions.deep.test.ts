/** The functions beside the handler: the same calls on @auth/core and here. */
import { describe, expect, it, vi } from 'vitest'
import { type AuthConfig, createActionURL, createAuth, isAuthAction, setEnvDefaults, skipCSRFCheck } from 'authkernel'
import * as ourErrors from 'authkernel/errors'
import { decode, encode, getToken } from 'authkernel/jwt'
import { authjsKeyInfo } from 'authkernel/plugins/authjs-compat'
import { type AuthJs, freshAuthJs } from './_authjs.ts'
import { wait, withClock } from './_clock.ts'
import { secret, start } from './_flow.ts'

type Options = Record<string, unknown>
type Outcome = { value: unknown } | { thrown: string }

const salt = 'authjs.session-token'
const other = 'another-secret-of-more-than-32-characters'
const authjs: AuthJs = await freshAuthJs()

/** What came of it; of errors the type alone, because messages are each library's own. */
async function outcome(work: () => unknown): Promise<Outcome> {
  try {
    return { value: await work() }
  } catch (error) {
    const { type, name } = error as Error & { type?: string }
    return { thrown: type ?? name }
  }
}

describe('encode and decode', () => {
  const cases: [string, Options, Options, number][] = [
    ['fresh', {}, {}, 0],
    ['a payload of its own', { token: { sub: '1', role: 'admin', deep: { a: [1] }, nothing: null } }, {}, 0],
    ['no payload', { token: undefined }, {}, 0],
    ['maxAge, in time', { maxAge: 60 }, {}, 59],
    ['maxAge, within the tolerance', { maxAge: 60 }, {}, 74],
    ['maxAge, too late', { maxAge: 60 }, {}, 76],
    ['thirty days', {}, {}, 30 * 24 * 3600 - 1],
    ['thirty days and a minute', {}, {}, 30 * 24 * 3600 + 60],
    ['another secret', {}, { secret: other }, 0],
    ['another salt', {}, { salt: 'other' }, 0],
    ['a list with the secret second', {}, { secret: [other, secret] }, 0],
    ['a list without the secret', {}, { secret: [other, `${other}2`] }, 0],
    ['made with a list', { secret: [other, secret] }, { secret: other }, 0],
  ]
  const makers = {
    theirs: (params: Options) => authjs.jwt.encode(params),
    ours: (params: Options) => encode({ ...params, keyInfo: authjsKeyInfo } as never),
  }
  const readers = {
    theirs: (params: Options) => authjs.jwt.decode(params),
    ours: (params: Options) => decode({ ...params, keyInfo: authjsKeyInfo } as never),
  }

  it.each(cases)('rows 94 to 100: %s', async (_name, made, read, later) => {
    const outcomes: string[] = []
    for (const make of Object.values(makers)) {
      for (const reader of Object.values(readers)) {
        const found = await withClock(start, async () => {
          const token = await make({ token: { sub: '1', name: 'Ann' }, secret, salt, ...made })
          wait(later)
          const result = await outcome(() => reader({ token, secret, salt, ...read }))
          // Failures differ in the class that jose or the library throws.
          return 'thrown' in result ? 'thrown' : { ...(result.value as object), jti: 'jti' }
        })
        outcomes.push(JSON.stringify(sorted(found)))
      }
    }
    expect([...new Set(outcomes)]).toHaveLength(1)
  })

  it('row 93: the header says the same', async () => {
    const headers = await Promise.all(
      Object.values(makers).map(async (make) => JSON.parse(atob((await make({ token: {}, secret, salt })).split('.')[0] ?? ''))),
    )
    expect(headers[1]).toEqual(headers[0])
  })

  it.each([undefined, ''])('row 97: a token that is none: %s', async (token) => {
    expect([await readers.ours({ token, secret, salt }), await readers.theirs({ token, secret, salt })]).toEqual([null, null])
  })

  it.each(['garbage', 'a.b.c.d.e', 'eyJhbGciOiJkaXIifQ..a.b.c'])('row 97: a token that is unreadable: %s', async (token) => {
    expect(await outcome(() => readers.ours({ token, secret, salt }))).toHaveProperty('thrown')
    expect(await outcome(() => readers.theirs({ token, secret, salt }))).toHaveProperty('thrown')
  })
})

describe('getToken', () => {
  const secure = `__Secure-${salt}`
  const cases: [string, (token: string, secureToken: string) => Options][] = [
    ['a cookie', (token) => at({ cookie: `${salt}=${token}` })],
    ['a cookie among others', (token) => at({ cookie: `a=b; ${salt}=${token}; c=d` })],
    ['a bearer token', (token) => at({ authorization: `Bearer ${token}` })],
    ['a bearer token, percent-encoded', (token) => at({ authorization: `Bearer ${encodeURIComponent(token)}` })],
    ['a bearer token, badly encoded', () => at({ authorization: 'Bearer %E0%A4%A' })],
    ['another scheme', (token) => at({ authorization: `Basic ${token}` })],
    ['cookie before bearer', (token) => at({ cookie: `${salt}=${token}`, authorization: 'Bearer garbage' })],
    ['nothing', () => at({})],
    ['garbage', () => at({ cookie: `${salt}=garbage` })],
    ['chunks', (token) => at({ cookie: `${salt}.0=${token.slice(0, 50)}; ${salt}.1=${token.slice(50)}` })],
    [
      'twelve chunks',
      (token) =>
        at({
          cookie: Array.from({ length: 12 }, (_, i) => `${salt}.${i}=${token.slice(i * 20, i === 11 ? undefined : (i + 1) * 20)}`)
            .toReversed()
            .join('; '),
        }),
    ],
    ['the secure cookie', (_token, secureToken) => ({ ...at({ cookie: `${secure}=${secureToken}` }), secureCookie: true })],
    ['the secure cookie, not asked for', (_token, secureToken) => at({ cookie: `${secure}=${secureToken}` })],
    ['another name', (token) => ({ ...at({ cookie: `sid=${token}` }), cookieName: 'sid', salt })],
    ['another name and its salt', (token) => ({ ...at({ cookie: `sid=${token}` }), cookieName: 'sid' })],
    ['raw', (token) => ({ ...at({ cookie: `${salt}=${token}` }), raw: true })],
    ['raw, without a secret', (token) => ({ ...at({ cookie: `${salt}=${token}` }), raw: true, secret: undefined })],
    ['raw, nothing there', () => ({ ...at({}), raw: true })],
    ['no secret', (token) => ({ ...at({ cookie: `${salt}=${token}` }), secret: undefined })],
    ['no request', () => ({ req: undefined })],
    ['a list of secrets', (token) => ({ ...at({ cookie: `${salt}=${token}` }), secret: [other, secret] })],
    ['the wrong secret', (token) => ({ ...at({ cookie: `${salt}=${token}` }), secret: other })],
    [
      'decode of its own',
      (token) => ({ ...at({ cookie: `${salt}=${token}` }), decode: ({ salt: used }: { salt: string }) => ({ sub: 'own', used }) }),
    ],
    ['decode that throws', (token) => ({ ...at({ cookie: `${salt}=${token}` }), decode: () => Promise.reject(new Error('no')) })],
  ]

  it.each(cases)('rows 103 to 109: %s', async (_name, make) => {
    const [token, secureToken] = await Promise.all(
      [salt, secure].map((name) => authjs.jwt.encode({ token: { sub: '1', name: 'Ann' }, secret, salt: name })),
    )
    for (const shape of ['headers', 'map', 'request'] as const) {
      const { headers, ...rest } = make(token ?? '', secureToken ?? '') as {
        headers?: Record<string, string>
        cookieName?: string
        secureCookie?: boolean
        req?: unknown
      }
      const req =
        headers === undefined
          ? rest.req
          : shape === 'request'
            ? new Request('http://localhost', { headers })
            : { headers: shape === 'map' ? headers : new Headers(headers) }
      const params = { secret, ...rest, req }
      const cookieName = rest.cookieName ?? (rest.secureCookie ? secure : salt)
      const theirs = await outcome(() => authjs.jwt.getToken(params))
      // Our default names are our own (D2).
      expect(await outcome(() => getToken({ ...params, cookieName, keyInfo: authjsKeyInfo } as never)), shape).toEqual(theirs)
    }
  })

  function at(headers: Record<string, string>): Options {
    return { headers }
  }
})

describe('setEnvDefaults', () => {
  const envs: Record<string, string>[] = [
    {},
    { AUTH_SECRET: secret },
    { AUTH_SECRET: secret, AUTH_SECRET_1: 'one' },
    { AUTH_SECRET_1: 'one', AUTH_SECRET_2: 'two', AUTH_SECRET_3: 'three', AUTH_SECRET: 'base' },
    { AUTH_URL: 'https://app.example/api/auth' },
    { AUTH_URL: 'https://app.example/auth' },
    { AUTH_TRUST_HOST: 'true' },
    { AUTH_TRUST_HOST: '1', NODE_ENV: 'production' },
    { NODE_ENV: 'production' },
    { NODE_ENV: 'development' },
    { NODE_ENV: 'production', VERCEL: '1' },
    { NODE_ENV: 'production', CF_PAGES: '1' },
    { NODE_ENV: 'production', AUTH_URL: 'https://app.example/auth' },
    { AUTH_REDIRECT_PROXY_URL: 'https://proxy.example/auth' },
  ]
  const configs: Options[] = [
    {},
    { secret: 'given' },
    { secret: ['given'] },
    { basePath: '/mine' },
    { trustHost: false },
    { redirectProxyUrl: 'https://mine.example' },
  ]

  it.each(envs.flatMap((env) => configs.map((config) => [JSON.stringify(env).slice(0, 90), JSON.stringify(config), env, config] as const)))(
    'rows 54 to 57, 60: %s over %s',
    (_env, _config, env, given) => {
      const [ours, theirs] = (['ours', 'theirs'] as const).map((library) => {
        const warnings: string[] = []
        const config: Options = { providers: [], ...structuredClone(given), logger: { warn: (code: string) => void warnings.push(code) } }
        if (library === 'ours') setEnvDefaults(env, config as AuthConfig)
        else authjs.setEnvDefaults(env, config)
        const { secret, basePath, trustHost, redirectProxyUrl } = config
        return { secrets: [secret ?? []].flat(), basePath, trustHost, redirectProxyUrl, warnings }
      })
      // D34: without a setting loopback hosts alone are believed, whatever NODE_ENV says.
      const isSaid = given['trustHost'] !== undefined || ['AUTH_URL', 'AUTH_TRUST_HOST', 'VERCEL', 'CF_PAGES'].some((name) => name in env)
      expect(ours).toEqual(isSaid ? theirs : { ...theirs, trustHost: undefined })
    },
  )
})

describe('setEnvDefaults and providers', () => {
  const env = { AUTH_ACME_ID: 'id', AUTH_ACME_SECRET: 's', AUTH_ACME_ISSUER: 'https://op.example', AUTH_MAILER_KEY: 'k' }
  const acme = (options: Options): Options => ({ id: 'acme', name: 'Acme', type: 'oidc', options })
  const mailer = (options: Options): Options => ({ id: 'mailer', name: 'Mailer', type: 'email', options })
  const told = ({ providers }: Options, where: 'options' | undefined): unknown =>
    (providers as Options[]).map((provider) => {
      const { clientId, clientSecret, issuer, apiKey } = (where ? provider[where] : provider) as Options
      return { clientId, clientSecret, issuer, apiKey }
    })

  it.each<[string, () => unknown[]]>([
    ['an object', () => [{ id: 'acme', name: 'Acme', type: 'oidc' }]],
    ['an object with a client', () => [{ id: 'acme', name: 'Acme', type: 'oidc', clientId: 'own' }]],
    ['a mailer', () => [{ id: 'mailer', name: 'Mailer', type: 'email' }]],
    ['presets that were not called', () => [acme, mailer]],
    ['a preset of another id', () => [{ id: 'other', name: 'Other', type: 'oauth' }]],
  ])('row 59: %s', (_name, make) => {
    const [ours, theirs] = [{ providers: make() }, { providers: make() }]
    setEnvDefaults(env, ours as AuthConfig)
    authjs.setEnvDefaults(env, theirs)
    expect(told(ours, undefined)).toEqual(told(theirs, undefined))
    if ('options' in (theirs.providers[0] as object)) expect(told(ours, 'options')).toEqual(told(theirs, 'options'))
  })

  it('a preset that was called keeps what the host said, and gets the rest (Auth.js fills the outside only)', () => {
    const config = { providers: [acme({ clientId: 'own' })] }
    setEnvDefaults(env, config as unknown as AuthConfig)
    expect(config.providers[0]).toMatchObject({
      options: { clientId: 'own', clientSecret: 's', issuer: 'https://op.example' },
      clientSecret: 's',
      issuer: 'https://op.example',
    })
  })
})

describe('createActionURL and isAuthAction', () => {
  const headers: Record<string, string>[] = [
    { host: 'app.example' },
    { host: 'app.example:8080' },
    { host: 'in.example', 'x-forwarded-host': 'out.example' },
    { host: 'app.example', 'x-forwarded-proto': 'https' },
  ]
  const envs: Record<string, string>[] = [
    {},
    { AUTH_URL: 'https://url.example' },
    { AUTH_URL: 'https://url.example/auth' },
    { AUTH_URL: 'https://url.example/other/' },
    { NEXTAUTH_URL: 'https://next.example/api/auth' },
  ]
  const bases = ['/auth', '/api/auth', '/a/b/c']
  const cases = headers.flatMap((given) =>
    envs.flatMap((env) =>
      bases.flatMap((basePath) =>
        ['http', 'https:'].map(
          (protocol) =>
            [`${JSON.stringify(given)} ${JSON.stringify(env)} ${basePath} ${protocol}`, given, env, basePath, protocol] as const,
        ),
      ),
    ),
  )

  it.each(cases)('rows 56, 61, 62: %s', async (_name, given, env, basePath, protocol) => {
    const [ours, theirs] = await Promise.all(
      (['ours', 'theirs'] as const).map(async (library) => {
        const warnings: string[] = []
        // D34: Auth.js believes forwarded headers always.
        const config = { basePath, trustProxy: true, logger: { warn: (code: string) => void warnings.push(code) } }
        const make = library === 'ours' ? createActionURL : authjs.createActionURL
        return { url: await outcome(() => make('signin', protocol, new Headers(given), env, config as never).href), warnings }
      }),
    )
    expect(ours).toEqual(theirs)
  })

  it.each([
    'signin',
    'signout',
    'session',
    'csrf',
    'providers',
    'callback',
    'error',
    'verify-request',
    'webauthn-options',
    'SIGNIN',
    '',
    'constructor',
    'other',
  ])('isAuthAction(%j)', (action) => {
    expect(isAuthAction(action)).toBe(authjs.isAuthAction(action))
  })
})

it('createActionURL at the root has one slash, and a base path with too many is the same one', () => {
  const [headers, warnings] = [new Headers({ host: 'app.example' }), [] as string[]]
  const at = (basePath: string, env = {}): string =>
    createActionURL('signin', 'http', headers, env, { basePath, logger: { warn: (code) => void warnings.push(code) } }).href
  expect([at('/'), at('/auth/', { AUTH_URL: 'https://url.example/auth' })]).toEqual([
    'http://app.example/signin',
    'https://url.example/auth/signin',
  ])
  expect(warnings).toEqual([])
})

describe('row 342: the default logger', () => {
  const levels = ['error', 'warn', 'log'] as const

  it.each([false, true])('writes lines with the same beginnings, debug %s', async (debug) => {
    const lines: Record<string, string[]> = {}
    // Auth.js colours files too (D63).
    vi.stubEnv('NO_COLOR', undefined)
    vi.stubEnv('FORCE_COLOR', '1')
    for (const library of ['ours', 'theirs'] as const) {
      const spies = levels.map((level) => vi.spyOn(console, level).mockImplementation(() => {}))
      const authorize = (): never => {
        throw new Error('host: broken')
      }
      const config = {
        secret,
        trustHost: true,
        debug,
        skipCSRFCheck: library === 'ours' ? skipCSRFCheck : authjs.skipCSRFCheck,
        providers: [{ id: 'c', name: 'C', type: 'credentials', authorize }],
      }
      const auth = library === 'ours' ? createAuth({ ...config, env: false } as never) : undefined
      const fresh = await freshAuthJs()
      if (library === 'theirs') config.skipCSRFCheck = fresh.skipCSRFCheck
      const handler = auth ? (request: Request) => auth.handler(request) : (request: Request) => fresh.Auth(request, config)
      await handler(new Request('http://localhost/auth/csrf'))
      await handler(new Request('http://localhost/auth/callback/c', { method: 'POST', body: new URLSearchParams({}) }))
      lines[library] = spies
        .flatMap((spy) => spy.mock.calls.map(([first]) => String(first).split(/(?<=\]\S*:?\S*) /)[0] ?? ''))
        .filter((line) => !line.includes('debug]'))
      for (const spy of spies) spy.mockRestore()
    }
    vi.unstubAllEnvs()
    expect(lines['ours']).toEqual(lines['theirs'])
  })
})

describe('error classes', () => {
  const names = Object.keys(authjs.errors).filter((name) => name !== 'isClientError')
  const cause = new Error('cause')
  const forms: [string, unknown[]][] = [
    ['nothing', []],
    ['a message', ['text']],
    ['a message and options', ['text', { cause: { a: 1 } }]],
    ['a message and an error', ['text', cause]],
    ['an error', [cause]],
    ['an error with details', [cause, { provider: 'acme' }]],
    ['options', [{ cause: { a: 1 } }]],
  ]

  // D62: the kind of an error is the page that it ends on.
  const otherPages: Record<string, { kind: string }> = {
    EmailSignInError: { kind: 'error' },
    OAuthSignInError: { kind: 'error' },
    OAuthProfileParseError: { kind: 'signIn' },
  }

  it.each(names)('rows 267, 269, 271, 277: %s', (name) => {
    const Theirs = authjs.errors[name]!
    const Ours = (ourErrors as unknown as typeof authjs.errors)[name]
    expect(Ours, 'exported').toBeTypeOf('function')
    for (const [form, args] of forms) {
      const [mine, other] = [Ours!, Theirs].map(
        (ErrorClass) =>
          new ErrorClass(...(args as never[])) as Error & { type: string; kind: string; code?: string; cause?: { err?: Error } },
      )
      // Messages without the link to a foreign site (D21). Auth.js forgets the error beside a message, and says nothing of its own message.
      const beside = form === 'a message and an error' && { cause: { err: cause } }
      const message = args[0] === cause ? 'cause' : other!.message.replace(/(\. )?Read more at .*/, '')
      const type = name === 'SignInError' && { type: name }
      expect(facts(mine!), form).toEqual({ ...facts(other!), ...beside, message, ...type, ...otherPages[name] })
      expect(mine).toBeInstanceOf(ourErrors.AuthError)
    }
  })

  it('row 268: messages carry no link to a foreign site (D21)', () => {
    expect(new ourErrors.AccessDenied('text').message).toBe('text')
  })
})

function facts({ name, type, kind, code, message, cause }: Error & { type?: string; kind?: string; code?: string }): Options {
  return { name, type, kind, code, message, cause: { ...(cause as object | undefined) } }
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
