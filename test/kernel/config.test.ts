import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { customFetch, merge, skipCSRFCheck } from 'authkernel/kernel'
import { resolveConfig, listSecrets } from '../../src/options/config.ts'
import { baseConfig, Client, fakeRuntime, recordingLogger, secret } from '../_setup.ts'

class Transport {
  host = 'smtp'
}
const transport = new Transport()
const fetchA = (): never => {
  throw new Error('a')
}
const run = (): void => {}

describe('merge (D50)', () => {
  it.each([
    ['arrays replace', { checks: ['none'] }, { checks: ['pkce', 'state'] }, { checks: ['none'] }],
    ['objects merge', { a: { x: 1 } }, { a: { y: 2 }, b: 3 }, { a: { x: 1, y: 2 }, b: 3 }],
    ['undefined keeps the default', { a: undefined, b: { c: undefined } }, { a: 1, b: { c: 2 } }, { a: 1, b: { c: 2 } }],
    ['null is a value', { a: null, b: { c: null } }, { a: 1, b: { c: 2, d: 3 } }, { a: null, b: { c: null, d: 3 } }],
    ['functions are values', { run }, { run: 1 }, { run }],
    ['class instances are values', { transport }, { transport: { host: 'other', port: 1 } }, { transport }],
    ['secret arrays replace', { secret: ['new'] }, { secret: ['old', 'older'] }, { secret: ['new'] }],
    ['symbol keys are copied', { [customFetch]: fetchA }, { [customFetch]: 1, a: 1 }, { [customFetch]: fetchA, a: 1 }],
    ['symbol keys in depth', { p: { [customFetch]: fetchA } }, { p: { a: 1 } }, { p: { [customFetch]: fetchA, a: 1 } }],
    ['symbol defaults stay', { a: 1 }, { [customFetch]: fetchA }, { a: 1, [customFetch]: fetchA }],
  ])('%s', (_name, over, under, expected) => {
    const before = JSON.stringify([over, under])
    expect(merge(over, under)).toEqual(expected)
    expect(JSON.stringify([over, under])).toBe(before)
  })

  it('a prototype cannot be reached', () => {
    const evil = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as object
    merge(evil, { a: {} })
    merge({ a: evil }, { a: { b: {} } })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('resolveConfig', () => {
  it('rows 31, 32, 34: lifetimes', () => {
    const { session, jwt } = resolveConfig({})
    expect(session).toMatchObject({ maxAge: 2_592_000, updateAge: 86_400 })
    expect(jwt.maxAge).toBeUndefined()
    expect(resolveConfig({ session: { updateAge: 0 } }).session.updateAge).toBe(0)
  })

  it('row 46: secret as text or list', () => {
    expect(listSecrets('a')).toEqual(['a'])
    expect(listSecrets(['b', '', 'a'])).toEqual(['b', 'a'])
    expect(listSecrets(undefined)).toEqual([])
  })

  it('row 53: the options of the host are never written to', async () => {
    const config = { ...baseConfig({ callbacks: { signIn: () => true }, pages: { signIn: '/in' } }) }
    const frozen = Object.freeze({ ...config, pages: Object.freeze(config.pages), callbacks: Object.freeze(config.callbacks) })
    const client = new Client(createAuth(frozen))
    await client.get('/signin')
    await client.post('/signout')
    expect(frozen.basePath).toBeUndefined()
  })

  it('row 42: levels of the logger that are not given keep the console', () => {
    const { error, errors } = recordingLogger()
    const { logger } = resolveConfig({ logger: { error } })
    logger.error(new Error('told'))
    expect(errors).toEqual([new Error('told')])
    expect(logger.warn).toBeTypeOf('function')
  })
})

describe('configuration mistakes', () => {
  const mistakes: [string, object, RegExp][] = [
    ['no secret (D4)', { secret: undefined }, /no `secret`.*AUTH_SECRET/s],
    ['row 51, row 334: a short secret', { secret: 'x'.repeat(31) }, /less than 32 characters/],
    ['one short secret in a list', { secret: [secret, 'short'] }, /less than 32/],
    ['a basePath without slash', { basePath: 'auth' }, /`basePath` must start with "\/"/],
    ['maxAge 0', { session: { maxAge: 0 } }, /`session.maxAge` must be a positive number/],
    ['an unknown strategy', { session: { strategy: 'cookie' } }, /`session.strategy` must be/],
    ['origin with a path', { origin: 'https://a.example/x' }, /origin ".*" must be scheme, host and port only/],
    ['origin that is no URL', { origin: 'a.example' }, /not an http/],
    ['a star inside of allowedHosts', { allowedHosts: ['a.*.example'] }, /`allowedHosts`/],
    ['a cookie name with a line feed', { cookies: { sessionToken: { name: 'a\nb' } } }, /cookies.sessionToken.name/],
    ['a cookie domain with an attribute', { cookies: { sessionToken: { options: { domain: 'a.example; Secure' } } } }, /options.domain/],
    ['database strategy without an adapter', { session: { strategy: 'database' } }, /needs an adapter/],
    ['an adapter without what database sessions need', { adapter: {} }, /operations that the adapter lacks: createUser, getUser/],
    ['row 240: credentials without authorize', { providers: [{ id: 'c', name: 'C', type: 'credentials' }] }, /Provider "c".*`authorize`/],
    ['an unknown provider type', { providers: [{ id: 'x', name: 'X', type: 'saml' }] }, /Provider "x" has the type "saml".*Known types: /],
    [
      'row 209, D49: one id twice',
      { providers: [1, 2].map(() => ({ id: 'c', name: 'C', type: 'credentials', authorize: () => null })) },
      /id "c" is used/,
    ],
    ['an id that cannot stand in a URL', { providers: [{ id: 'a/b', type: 'credentials', authorize: () => null }] }, /has the id "a\/b"/],
    ['row 244: webauthn without an adapter', { providers: [{ id: 'w', name: 'W', type: 'webauthn' }] }, /Provider "w".*adapter/],
  ]
  it.each(mistakes)('%s: ready() throws with option and remedy; over HTTP it is 500 without details', async (_name, config, message) => {
    const options = baseConfig(config as never)
    const auth = createAuth(options)
    await expect(auth.ready()).rejects.toThrow(message)
    const response = await new Client(auth).get('/session')
    // Without a usable base path no route is below it.
    if (options.basePath === 'auth') return expect(response.status).toBe(400)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      message: 'There was a problem with the server configuration. Check the server logs for more information.',
    })
    expect(options.logger.errors).toHaveLength(1)
    await expect(auth.session(new Request('http://localhost:3000'))).rejects.toThrow(message)
  })

  it('row 24: pages answer HTML with status 500', async () => {
    const response = await new Client(createAuth(baseConfig({ secret: undefined }))).get('/signin')
    expect(response.status).toBe(500)
    expect(response.headers.get('content-type')).toContain('text/html')
    expect(await response.text()).not.toContain('AUTH_SECRET')
  })

  it('row 25: pages.error gets the redirect', async () => {
    const response = await new Client(createAuth(baseConfig({ secret: undefined, pages: { error: '/oops' } }))).get('/signin')
    expect(response.headers.get('location')).toBe('http://localhost:3000/oops?error=Configuration')
  })

  it('row 26: an error page that needs a sign-in is not redirected to', async () => {
    const options = baseConfig({ secret: undefined, pages: { error: '/oops' } })
    const response = await new Client(createAuth(options)).get('/signin?callbackUrl=/oops')
    expect(response.status).toBe(500)
    expect(options.logger.errors.map(({ name }) => name)).toEqual(['MissingSecret', 'ErrorPageLoop'])
  })

  it('row 39: an untrusted host is refused on every route', async () => {
    const options = baseConfig({ trustHost: false })
    expect((await new Client(createAuth(options)).get('/csrf')).status).toBe(500)
    expect(options.logger.errors[0]).toMatchObject({ name: 'UntrustedHost' })
  })

  it('row 45: only the symbol switches the CSRF check off', async () => {
    for (const [value, off] of [
      [skipCSRFCheck, true],
      [true, false],
      [Symbol('skip'), false],
    ] as const) {
      const client = new Client(createAuth(baseConfig({ skipCSRFCheck: value as never })))
      const response = await client.send('/signout', { method: 'POST', body: new URLSearchParams() })
      expect(response.headers.get('location')).toBe(off ? 'http://localhost:3000' : 'http://localhost:3000/auth/signin?error=MissingCSRF')
    }
  })

  it('rows 41, 44, 337, 343: debug and experiments warn once', async () => {
    const logger = recordingLogger()
    const auth = createAuth({
      secret,
      debug: true,
      experimental: { enableWebAuthn: true },
      logger,
      env: false,
      trustHost: true,
      runtime: fakeRuntime(),
    })
    await new Client(auth).get('/session')
    await new Client(auth).get('/session')
    expect(logger.warnings).toEqual(['debug-enabled', 'experimental-webauthn'])
  })
})
