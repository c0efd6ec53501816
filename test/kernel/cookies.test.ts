/** Rows, section E: names, flags, chunks. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { CookieSet } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { CookieJar } from '../../src/http/cookies.ts'
import { baseConfig, Client } from '../_setup.ts'

const providers = [{ id: 'credentials', name: 'Password', type: 'credentials' as const, authorize: () => ({ id: '1', name: 'Ann' }) }]
const lines = (jar: CookieJar): string[] => {
  const headers = new Headers()
  jar.write(headers)
  return headers.getSetCookie()
}

/** The cookies of an instance with all built-in plugins. */
async function cookieSet(prefix: string, secure: boolean, cookies: object = {}): Promise<CookieSet> {
  const auth = createAuth(baseConfig({ cookies, useSecureCookies: secure, adapter: memoryAdapter(), session: { strategy: 'jwt' } }))
    .use(webauthnPlugin())
    .use({
      name: 'look',
      setup(kernel) {
        kernel.defaults({ cookiePrefix: prefix })
        return { look: async () => (await kernel.contextOf(new Request('http://localhost:3000/'))).cookies }
      },
    })
  return auth.look()
}

describe('names and flags', () => {
  it('rows 77, 78: seven keys, three of parked logins, one each of known devices, typed names, mailed links and attributes of sessions; prefixes in secure mode', async () => {
    const names = async (secure: boolean): Promise<string[]> => Object.values(await cookieSet('authkernel', secure)).map(({ name }) => name)
    expect((await names(false)).sort()).toEqual(
      [
        'authkernel.session-token',
        'authkernel.callback-url',
        'authkernel.csrf-token',
        'authkernel.pkce.code_verifier',
        'authkernel.state',
        'authkernel.nonce',
        'authkernel.challenge',
        'authkernel.known-device',
        'authkernel.typed',
        'authkernel.session-info',
        'authkernel.parked',
        'authkernel.parked-a',
        'authkernel.parked-b',
        'authkernel.mailed-link',
      ].sort(),
    )
    expect((await names(true)).sort()).toEqual(
      [
        '__Secure-authkernel.session-token',
        '__Secure-authkernel.callback-url',
        '__Host-authkernel.csrf-token',
        '__Secure-authkernel.pkce.code_verifier',
        '__Secure-authkernel.state',
        '__Secure-authkernel.nonce',
        '__Secure-authkernel.challenge',
        '__Host-authkernel.known-device',
        '__Host-authkernel.typed',
        '__Host-authkernel.session-info',
        '__Host-authkernel.parked',
        '__Host-authkernel.parked-a',
        '__Host-authkernel.parked-b',
        '__Host-authkernel.mailed-link',
      ].sort(),
    )
  })

  it('rows 79, 80: HttpOnly, Lax, Path=/; 15 minutes for pkce, state and challenge', async () => {
    for (const secure of [false, true]) {
      for (const { options } of Object.values(await cookieSet('a', secure))) {
        expect(options).toMatchObject({ httpOnly: true, sameSite: 'lax', path: '/', secure })
      }
    }
    const { pkceCodeVerifier, state, webauthnChallenge, nonce } = await cookieSet('a', true)
    expect([pkceCodeVerifier, state, webauthnChallenge, nonce].map(({ options }) => options.maxAge)).toEqual([900, 900, 900, undefined])
  })

  it('rows 37, 91: overrides are merged per cookie', async () => {
    const set = await cookieSet('a', true, { sessionToken: { name: 'sid', options: { domain: 'example.com' } } })
    expect(set.sessionToken).toEqual({
      name: 'sid',
      options: { httpOnly: true, sameSite: 'lax', path: '/', secure: true, domain: 'example.com' },
    })
    expect(set.state.name).toBe('__Secure-a.state')
  })

  it('a cookie of a plugin that the host gives a domain or a path is not named __Host-, which browsers would refuse', async () => {
    const change = { 'session-info': { options: { domain: 'example.com' } }, typed: { options: { path: '/login' } } }
    const set = (await cookieSet('a', true, change as never)) as unknown as Record<string, { name: string; options: object }>
    expect([set['session-info'], set['typed'], set['parked']?.name]).toMatchObject([
      { name: '__Secure-a.session-info', options: { domain: 'example.com', path: '/' } },
      { name: '__Secure-a.typed', options: { path: '/login' } },
      '__Host-a.parked',
    ])
  })

  it('rows 38, 78, 81: https gives secure cookies; the session cookie has Expires and no Max-Age', async () => {
    const options = baseConfig({ providers })
    const client = new Client(createAuth(options), 'https://app.example')
    const response = await client.post('/callback/credentials')
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('__Secure-authkernel.session-token='))
    const end = new Date(options.runtime.now() + 2_592_000_000).toUTCString()
    expect(cookie?.replace(/=[^;]+/, '')).toBe(`__Secure-authkernel.session-token; Path=/; Expires=${end}; HttpOnly; Secure; SameSite=Lax`)
  })

  it('row 38: useSecureCookies overrides the protocol', async () => {
    const client = new Client(createAuth(baseConfig({ useSecureCookies: true })))
    await client.csrfToken()
    expect([...client.cookies.keys()]).toContain('__Host-authkernel.csrf-token')
  })

  it('row 90: another name is another key', async () => {
    const one = new Client(createAuth(baseConfig({ providers })))
    await one.post('/callback/credentials')
    const two = new Client(createAuth(baseConfig({ providers, cookies: { sessionToken: { name: 'sid' } } })))
    two.cookies.set('sid', one.cookies.get('authkernel.session-token') ?? '')
    expect(await two.session()).toBeNull()
  })
})

describe('chunks', () => {
  const long = (n: number): string => Array.from({ length: n }, (_, i) => String.fromCharCode(97 + (i % 26))).join('')

  it('row 82: more than 3936 characters are split', () => {
    const jar = new CookieJar(null)
    jar.setChunked('s', long(3936))
    expect(lines(jar).map((line) => line.split('=')[0])).toEqual(['s'])
    jar.setChunked('s', long(3937))
    const written = lines(jar).filter((line) => !line.includes('Max-Age=0'))
    expect(written.map((line) => [line.split('=')[0], line.split('=')[1]?.length])).toEqual([
      ['s.0', 3936],
      ['s.1', 1],
    ])
  })

  it('row 83: chunks are joined in numeric order', () => {
    const parts = Array.from({ length: 12 }, (_, i) => `s.${i}=${String.fromCharCode(97 + i)}`).toReversed()
    expect(new CookieJar(parts.join('; ')).getChunked('s')).toBe('abcdefghijkl')
  })

  it('row 84: shrinking and growing delete what is stale', () => {
    const shrink = new CookieJar('s.0=a; s.1=b')
    shrink.setChunked('s', 'x')
    expect(lines(shrink)).toEqual(['s.0=; Max-Age=0', 's.1=; Max-Age=0', 's=x'])
    const grow = new CookieJar('s=a')
    grow.setChunked('s', long(4000))
    expect(lines(grow).map((line) => line.slice(0, 8))).toEqual(['s=; Max-', 's.0=abcd', 's.1=klmn'].map((line) => line.slice(0, 8)))
  })

  it('rows 85, 86, D22: sign-out expires every chunk and no foreign cookie', async () => {
    const client = new Client(createAuth(baseConfig()))
    for (const name of ['', '.0', '.1', '-other', '.x', 'x.0']) client.cookies.set(`authkernel.session-token${name}`, 'v')
    const deleted = (await client.post('/signout')).headers.getSetCookie().map((line) => line.split('=')[0])
    // A whole cookie beside chunks may be planted: below the base path, too.
    expect([...new Set(deleted)]).toEqual(['authkernel.session-token', 'authkernel.session-token.0', 'authkernel.session-token.1'])
  })

  it('row 86: a name that only shares the prefix is not read', () => {
    expect(new CookieJar('s-evil=x; sx=y; s.evil=z').getChunked('s')).toBeUndefined()
  })

  it('D55: at most 5 chunks are written, at most 20 foreign ones deleted', () => {
    const jar = new CookieJar(null)
    expect(() => jar.setChunked('s', long(5 * 3936 + 1))).toThrow('19681 characters and would need 6 cookies')
    const flood = new CookieJar(Array.from({ length: 2000 }, (_, i) => `s.${i}=x`).join('; '))
    expect(flood.getChunked('s')).toBeUndefined()
    flood.delete('s')
    expect(lines(flood)).toHaveLength(20)
  })

  it('a token in chunks signs in and reads back', async () => {
    const fat = [{ ...providers[0], authorize: () => ({ id: '1', name: long(9000) }) }]
    const client = new Client(createAuth(baseConfig({ providers: fat as never })))
    await client.post('/callback/credentials')
    expect([...client.cookies.keys()].filter((name) => name.includes('session-token')).length).toBeGreaterThan(2)
    expect(await client.session()).toMatchObject({ user: { name: long(9000) } })
    await client.post('/signout')
    expect([...client.cookies.keys()].filter((name) => name.includes('session-token'))).toEqual([])
  })
})

describe('bad cookies (D20)', () => {
  it.each(['a', '=', '; ; ;', 'a=%E0%A4%A', `x=${'y'.repeat(100_000)}`, '__proto__=1', '\u00ff=1', 'a=b=c'])('%j is ignored', (header) => {
    const jar = new CookieJar(header)
    expect(jar.getChunked('s')).toBeUndefined()
    expect(jar.get('__proto__x')).toBeUndefined()
  })

  it('the first of two cookies of one name counts', () => {
    expect(new CookieJar('s=first; s=second').get('s')).toBe('first')
  })
})
