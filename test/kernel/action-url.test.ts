/** createActionURL and isAuthAction (rows 56, 61, 62). */
import { describe, expect, it } from 'vitest'
import { createActionURL, isAuthAction } from 'authkernel'
import { recordingLogger } from '../_setup.ts'

const headers = (values: Record<string, string> = { host: 'app.example:3000' }) => new Headers(values)
const url = (protocol: string, values: Headers, env: Record<string, string> = {}, config = {}) =>
  createActionURL('signin', protocol, values, env, config).href

describe('createActionURL', () => {
  it('row 61: host and protocol', () => {
    expect(url('https', headers())).toBe('https://app.example:3000/auth/signin')
    expect(url('http:', headers())).toBe('http://app.example:3000/auth/signin')
  })

  const proxied = headers({ host: 'in.example', 'x-forwarded-host': 'out.example, mid.example', 'x-forwarded-proto': 'https,http' })

  it('row 61: with trustProxy the forwarded headers, the first of several or by hops, before host and protocol', () => {
    expect(url('http', proxied, {}, { trustProxy: true })).toBe('https://out.example/auth/signin')
    expect(url('http', proxied, {}, { trustProxy: 1 })).toBe('http://mid.example/auth/signin')
    expect(url('http', headers({ host: 'in.example', 'x-forwarded-proto': 'javascript' }), {}, { trustProxy: true })).toBe(
      'https://in.example/auth/signin',
    )
    expect(url('http', proxied, { AUTH_TRUST_PROXY: '2' })).toBe('https://out.example/auth/signin')
    expect(url('http', proxied, { VERCEL: '1' })).toBe('https://out.example/auth/signin')
  })

  it.each([{}, { trustProxy: false }, { trustProxy: 0 }])('D34: with %j forwarded headers count for nothing', (config) => {
    expect(url('http', proxied, {}, config)).toBe('http://in.example/auth/signin')
    expect(url('http', proxied, { AUTH_TRUST_PROXY: 'false' }, config)).toBe('http://in.example/auth/signin')
  })

  it('without a protocol it is https, and the options may be left out', () => {
    expect(createActionURL('session', undefined, headers(), {}).href).toBe('https://app.example:3000/auth/session')
  })

  it.each([
    [undefined, 'https://own.example/api/auth/signin'],
    ['/auth', 'https://own.example/auth/signin'],
  ])('the path of AUTH_URL is the base path where there is none: %s', (basePath, expected) => {
    const logger = recordingLogger()
    for (const name of ['AUTH_URL', 'NEXTAUTH_URL']) {
      expect(url('http', headers(), { [name]: 'https://own.example/api/auth/' }, { basePath, logger })).toBe(expected)
    }
    expect(logger.warnings).toHaveLength(basePath === undefined ? 0 : 2)
  })

  it('row 61: AUTH_URL, or NEXTAUTH_URL, before both', () => {
    expect(url('http', headers(), { AUTH_URL: 'https://own.example' })).toBe('https://own.example/auth/signin')
    expect(url('http', headers(), { NEXTAUTH_URL: 'https://own.example' })).toBe('https://own.example/auth/signin')
    expect(url('http', headers(), { AUTH_URL: 'https://own.example', NEXTAUTH_URL: 'https://x.example' })).toContain('own.example')
  })

  it.each([
    ['/api/auth', 'https://app.example:3000/api/auth/signin'],
    ['//api/auth//', 'https://app.example:3000/api/auth/signin'],
    ['auth', 'https://app.example:3000/auth/signin'],
    ['/', 'https://app.example:3000/signin'],
    ['', 'https://app.example:3000/signin'],
    [undefined, 'https://app.example:3000/auth/signin'],
  ])('row 62: the base path %j', (basePath, expected) => expect(url('https', headers(), {}, { basePath })).toBe(expected))

  it('row 56: AUTH_URL with another path warns, and basePath wins', () => {
    const logger = recordingLogger()
    expect(url('http', headers(), { AUTH_URL: 'https://own.example/other' }, { basePath: '/auth', logger })).toBe(
      'https://own.example/auth/signin',
    )
    expect(logger.warnings).toEqual(['env-url-basepath-mismatch'])
    url('http', headers(), { AUTH_URL: 'https://own.example/auth/' }, { basePath: '/auth', logger })
    expect(logger.warnings).toHaveLength(1)
  })

  it('without any host it says what to set', () => {
    expect(() => url('https', new Headers())).toThrow('AUTH_URL')
  })
})

describe('isAuthAction', () => {
  it.each(['callback', 'csrf', 'error', 'providers', 'session', 'signin', 'signout', 'verify-request', 'webauthn-options'])(
    '%s is one',
    (action) => expect(isAuthAction(action)).toBe(true),
  )
  it.each(['', 'Session', 'constructor', '__proto__', 'sign-in'])('%j is none', (action) => expect(isAuthAction(action)).toBe(false))
})
