/** Who we are on the network (D34). */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { Settings } from 'authkernel/kernel'
import { resolveConfig } from '../../src/options/config.ts'
import { hostMatches, originFault } from '../../src/http/hosts.ts'
import { resolveOrigin } from '../../src/http/origin.ts'
import { baseConfig, Client } from '../_setup.ts'

const of = (url: string, headers: Record<string, string>, config: object, options: { trustForwarded?: boolean } = {}) =>
  resolveOrigin(new Request(url, { headers }), { origin: '' } as Settings, resolveConfig({ trustHost: true, ...config }), options)
const forwarded = (host: string, proto = 'https') => ({ 'x-forwarded-host': host, 'x-forwarded-proto': proto })

describe('resolveOrigin', () => {
  it('the configured origin alone, whatever the request says', () => {
    const request = new Request('http://evil.example', { headers: forwarded('evil.example') })
    expect(resolveOrigin(request, { origin: 'https://own.example' } as Settings, resolveConfig({ trustProxy: true }), {})).toBe(
      'https://own.example',
    )
  })

  it('row 39: without one, the host counts only with trustHost', () => {
    expect(of('http://a.example:3000/x', {}, {})).toBe('http://a.example:3000')
    expect(() => of('http://a.example/x', {}, { trustHost: false })).toThrow(/"a\.example" is not trusted.*AUTH_URL.*trustHost: true/s)
    expect(() => of('http://localhost/x', {}, { trustHost: false })).toThrow('`trustHost` is false')
  })

  it.each(['localhost', 'localhost:3000', 'app.localhost', '127.0.0.1:8080', '127.8.9.1', '[::1]:3000'])(
    'row 39: without a setting the loopback host %s is believed',
    (host) => expect(of(`http://${host}/x`, {}, { trustHost: undefined })).toBe(`http://${host}`),
  )

  it.each([
    'a.example',
    '192.168.1.5:3000',
    '10.0.0.1',
    '0.0.0.0:3000',
    '[::2]',
    'localhost.evil.example',
    'evillocalhost',
    '127.0.0.1.evil.example',
  ])('row 39: without a setting the host %s is not', (host) => {
    const remedies = /is not trusted.*AUTH_URL.*`origin`.*`allowedHosts`.*`trustHost: true`/s
    expect(() => of(`http://${host}/x`, {}, { trustHost: undefined })).toThrow(remedies)
  })

  it('without a setting a forwarded host must be a loopback host, too', () => {
    const config = { trustHost: undefined, trustProxy: true }
    expect(() => of('http://localhost:3000/', forwarded('evil.example'), config)).toThrow('"evil.example" is not trusted')
    expect(of('http://10.0.0.1/', forwarded('app.localhost'), config)).toBe('https://app.localhost')
  })

  it('`allowedHosts` alone is enough', () => {
    const config = { trustHost: undefined, allowedHosts: ['a.example'] }
    expect(of('https://a.example/', {}, config)).toBe('https://a.example')
    expect(() => of('http://localhost/', {}, config)).toThrow('not in `allowedHosts`')
  })

  it.each([
    ['not at all', {}, 'http://in.example'],
    ['trustProxy: true takes the first', { trustProxy: true }, 'https://a.example'],
    ['one hop takes the last', { trustProxy: 1 }, 'http://c.example'],
    ['two hops take the one before', { trustProxy: 2 }, 'https://b.example'],
    ['more hops than values take the first', { trustProxy: 9 }, 'https://a.example'],
    ['0 hops are none', { trustProxy: 0 }, 'http://in.example'],
    ['false is none', { trustProxy: false }, 'http://in.example'],
  ])('forwarded headers: %s', (_name, config, expected) => {
    expect(of('http://in.example/', forwarded('a.example, b.example ,c.example', 'https,https , http'), config)).toBe(expected)
  })

  it('rows 297, 373: a framework that trusts its proxy speaks for it', () => {
    expect(of('http://in.example/', forwarded('a.example'), {}, { trustForwarded: true })).toBe('https://a.example')
    expect(of('http://in.example/', { 'x-forwarded-proto': 'https' }, {}, { trustForwarded: true })).toBe('https://in.example')
  })

  it.each(['javascript', 'ftp', 'HTTPS://x', ''])('the scheme %j is not taken over', (proto) => {
    expect(of('http://in.example/', forwarded('a.example', proto), { trustProxy: true })).toBe('http://a.example')
  })

  it.each([
    'a.example/path',
    'a.example?x=1',
    'a.example#x',
    'user@a.example',
    'user:pass@a.example',
    'a b',
    'a.example:99999',
    'a.example\\x',
    '[::1',
    '/',
    '@',
    'a.example:x',
  ])('the forwarded host %j is refused', (host) => {
    expect(() => of('http://in.example/', forwarded(host), { trustProxy: true })).toThrow('malformed')
  })

  it('allowedHosts must list it', () => {
    const config = { allowedHosts: ['a.example', '*.b.example'] }
    expect(of('http://a.example/', {}, config)).toBe('http://a.example')
    expect(of('http://x.y.b.example/', {}, config)).toBe('http://x.y.b.example')
    expect(() => of('http://evil.example/', {}, config)).toThrow('not in `allowedHosts`')
    expect(() => of('http://a.example/', forwarded('evil.example'), { ...config, trustProxy: true })).toThrow('not in `allowedHosts`')
  })
})

describe('hostMatches (GHSA-vp58-j275-797x)', () => {
  it.each([
    ['app.example', 'app.example', true],
    ['App.Example', 'aPP.eXAMPLE', true],
    ['app.example', 'app.example:443', false],
    ['app.example:8443', 'app.example:8443', true],
    ['*.app.example', 'a.app.example', true],
    ['*.app.example', 'a.b.app.example', true],
    ['*.app.example', 'app.example', false],
    ['*.app.example', '.app.example', false],
    ['*.app.example', 'evilapp.example', false],
    ['*.app.example', 'a.app.example.evil.example', false],
    ['app.example', 'appXexample', false],
    ['*.app.example:8443', 'a.app.example:8443', true],
    ['*.app.example', 'a.app.example:8443', false],
    ['*', 'anything', false],
  ])('%s and %s: %s', (pattern, host, expected) => expect(hostMatches(pattern, host)).toBe(expected))
})

describe('originFault', () => {
  it.each(['', 'https://a.example', 'http://localhost:3000', 'https://a.example:8443'])('%j is fine', (origin) =>
    expect(originFault(origin)).toBeUndefined(),
  )
  it.each([
    'a.example',
    'ftp://a.example',
    'https://a.example/',
    'https://a.example/x',
    'https://A.example',
    'https://a.example:443',
    'https://u:p@a.example',
    'javascript:1',
  ])('%j is a mistake', (origin) => expect(originFault(origin)).toContain('origin'))
})

describe('over HTTP', () => {
  it('links come from the configured origin, cookies follow its scheme (row 38)', async () => {
    const auth = createAuth(baseConfig({ origin: 'https://own.example', trustHost: false }))
    const response = await auth.handler(
      new Request('http://10.0.0.5:8080/auth/csrf', { headers: { ...forwarded('evil.example'), host: 'evil.example' } }),
    )
    expect(response.headers.getSetCookie().join()).toContain('__Host-authkernel.csrf-token')
    const providers = await (await new Client(auth, 'http://evil.example').get('/signout')).text()
    expect(providers).not.toContain('evil.example')
  })

  it('a malformed forwarded host is an answer, not a crash (GHSA-569q-mpph-wgww: and the next request is clean)', async () => {
    const options = baseConfig({ trustProxy: true })
    const auth = createAuth(options)
    const junk = await auth.handler(new Request('http://localhost:3000/auth/session', { headers: forwarded('a b/../\\', 'x') }))
    expect(junk.status).toBe(500)
    expect(options.logger.errors[0]?.name).toBe('UntrustedHost')
    expect((await new Client(auth).get('/session')).status).toBe(200)
  })
})
