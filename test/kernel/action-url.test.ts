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

  it('row 61: forwarded headers, the first of several, before host and protocol', () => {
    const values = headers({ host: 'in.example', 'x-forwarded-host': 'out.example, mid.example', 'x-forwarded-proto': 'https,http' })
    expect(url('http', values)).toBe('https://out.example/auth/signin')
    expect(url('http', headers({ host: 'in.example', 'x-forwarded-proto': 'javascript' }))).toBe('https://in.example/auth/signin')
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
