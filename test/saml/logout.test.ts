/** Single logout: requests of ours, signed requests of the identity provider by both bindings, and forged ones that end nothing. */
import { sign as signBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { Client } from '../_setup.ts'
import { base, connection, type Host, idpEntity, idpKeys, origin, otherKeys, type Pair, samlHost, sign, signIn, spKeys } from './_idp.ts'

const algorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
let made = 0

interface Parts {
  issuer?: string
  destination?: string
  nameId?: string
  index?: string
  issued?: number
  end?: number
  id?: string
}

function writeLogout(host: Host, parts: Parts = {}): string {
  const now = host.runtime.now()
  const {
    issuer = idpEntity,
    destination = `${base}/saml/acme/logout`,
    nameId = 'ada-1',
    index,
    issued = 0,
    end = 300_000,
    id = `_lo${++made}`,
  } = parts
  const sessions = index === undefined ? '' : `<samlp:SessionIndex>${index}</samlp:SessionIndex>`
  return `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${new Date(now + issued).toISOString()}" NotOnOrAfter="${new Date(now + end).toISOString()}" Destination="${destination}"><saml:Issuer>${issuer}</saml:Issuer><saml:NameID>${nameId}</saml:NameID>${sessions}</samlp:LogoutRequest>`
}

/** The query of HTTP-Redirect, signed over its own octets. */
function redirectQuery(xml: string, keys: Pair = idpKeys, name = 'SAMLRequest'): string {
  const query = `${name}=${encodeURIComponent(deflateRawSync(xml).toString('base64'))}&RelayState=r%2B1&SigAlg=${encodeURIComponent(algorithm)}`
  return `${query}&Signature=${encodeURIComponent(signBytes('sha256', Buffer.from(query), keys.privateKey).toString('base64'))}`
}

function readRedirect(location: string | null): { url: URL; xml: string; parameter: string } {
  const url = new URL(location ?? 'about:blank')
  const parameter = url.searchParams.has('SAMLRequest') ? 'SAMLRequest' : 'SAMLResponse'
  return { url, parameter, xml: inflateRawSync(Buffer.from(url.searchParams.get(parameter) ?? '', 'base64')).toString() }
}

async function open(): Promise<{ host: Host; client: Client; told: unknown[] }> {
  const host = samlHost([connection('acme', { signing: spKeys })], {}, [singleLogoutPlugin()])
  const told: unknown[] = []
  host.auth.on('providerLogout', ({ provider, sub, sid, channel }) => void told.push({ provider, sub, sid, channel }))
  const client = new Client(host.auth)
  await signIn(host, client, { sessionIndex: 's-1' })
  expect(await client.session()).not.toBeNull()
  return { host, client, told }
}
const postLogout = (client: Client, xml: string): Promise<Response> =>
  client.send('/saml/acme/logout', {
    method: 'POST',
    body: new URLSearchParams({ SAMLRequest: Buffer.from(xml).toString('base64') }),
    headers: { origin: 'https://idp.example', 'sec-fetch-site': 'cross-site' },
  })

describe('single logout', () => {
  it('a sign-out goes on to the identity provider, signed, and comes back to where the user wanted to go', async () => {
    const { client } = await open()
    const { url, xml } = readRedirect((await client.post('/signout', { callbackUrl: '/bye' })).headers.get('location'))
    expect(url.href.startsWith('https://idp.example/slo?SAMLRequest=')).toBe(true)
    expect(url.searchParams.get('Signature')).not.toBeNull()
    expect(xml).toContain('>ada-1</saml:NameID><samlp:SessionIndex>s-1</samlp:SessionIndex>')
    expect(xml).toContain('nameid-format:persistent')
    expect(await client.session()).toBeNull()
    const id = /ID="([^"]+)"/.exec(xml)?.[1]
    const response = `<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_x" Version="2.0" InResponseTo="${id}"><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status></samlp:LogoutResponse>`
    const back = await client.get(`/saml/acme/logout?${redirectQuery(response, idpKeys, 'SAMLResponse')}`)
    expect(back.headers.get('location')).toBe(`${origin}/bye`)
    expect((await client.get(`/saml/acme/logout?${redirectQuery(response, idpKeys, 'SAMLResponse')}`)).headers.get('location')).toBe(
      `${origin}/`,
    )
  })

  it.each(['redirect', 'post'] as const)('a signed request by %s ends the session that it names, and is answered', async (binding) => {
    const { host, client, told } = await open()
    const other = new Client(host.auth)
    await signIn(host, other, { sessionIndex: 's-2' })
    const xml = writeLogout(host, { index: 's-1' })
    const answer =
      binding === 'post'
        ? await postLogout(client, sign(xml, { what: 'response' }))
        : await client.get(`/saml/acme/logout?${redirectQuery(xml)}`)
    const { url, parameter, xml: response } = readRedirect(answer.headers.get('location'))
    expect([url.origin, parameter, /InResponseTo="([^"]+)"/.exec(response)?.[1]]).toEqual([
      'https://idp.example',
      'SAMLResponse',
      `_lo${made}`,
    ])
    expect(url.searchParams.get('RelayState')).toBe(binding === 'post' ? null : 'r+1')
    expect([await client.session(), (await other.session()) !== null]).toEqual([null, true])
    expect(told).toEqual([{ provider: 'acme', sub: 'ada-1', sid: 's-1', channel: 'front' }])
  })

  it('a sign-out goes on by HTTP-POST where the provider wants it, once and in this browser alone', async () => {
    const { idp, ...rest } = connection('acme', { signing: spKeys })
    const host = samlHost([{ ...rest, idp: { ...idp!, signOutBinding: 'post' } }], {}, [singleLogoutPlugin()])
    const client = new Client(host.auth)
    await signIn(host, client, { sessionIndex: 's-1' })
    const location = (await client.post('/signout', { callbackUrl: '/bye' })).headers.get('location') ?? ''
    expect(location).toMatch(/^http:\/\/localhost:3000\/auth\/saml\/acme\/leave\?id=_[0-9a-f]{32}$/)
    expect(await client.session()).toBeNull()
    const page = await client.get(location)
    expect(page.headers.get('content-security-policy')).toContain('https://idp.example')
    const html = await page.text()
    expect(html).toContain('action="https://idp.example/slo"')
    const xml = Buffer.from(/name="SAMLRequest" value="([^"]+)"/.exec(html)?.[1] ?? '', 'base64').toString()
    expect(xml).toMatch(/<samlp:LogoutRequest[\s\S]*<SignatureValue>[\s\S]*>ada-1<\/saml:NameID>/)
    expect((await new Client(host.auth).get(location)).headers.get('location')).toBe(`${origin}/`)
    const id = /ID="([^"]+)"/.exec(xml)?.[1]
    const response = `<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_x" Version="2.0" InResponseTo="${id}"><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status></samlp:LogoutResponse>`
    const back = await client.get(`/saml/acme/logout?${redirectQuery(response, idpKeys, 'SAMLResponse')}`)
    expect(back.headers.get('location')).toBe(`${origin}/bye`)
    expect((await client.get(location)).headers.get('location')).toBe(`${origin}/`)
  })

  it('a request without an index ends all sessions of the user; its copy ends none that began later', async () => {
    const { host, client } = await open()
    const query = redirectQuery(writeLogout(host))
    await client.get(`/saml/acme/logout?${query}`)
    expect(await client.session()).toBeNull()
    host.runtime.advance(5_000)
    await signIn(host, client)
    await new Client(host.auth).get(`/saml/acme/logout?${query}`)
    expect(await client.session()).not.toBeNull()
  })

  const forged: [string, (host: Host) => string][] = [
    ['another key', (host) => redirectQuery(writeLogout(host), otherKeys)],
    ['no signature', (host) => redirectQuery(writeLogout(host)).replace(/&Signature=.*/, '')],
    ['no algorithm', (host) => redirectQuery(writeLogout(host)).replace(/&SigAlg=[^&]*/, '')],
    ['an algorithm that is not accepted', (host) => redirectQuery(writeLogout(host)).replace('rsa-sha256', 'hmac-sha256')],
    [
      'SHA-1',
      (host) =>
        redirectQuery(writeLogout(host)).replace(
          /SigAlg=[^&]*/,
          `SigAlg=${encodeURIComponent('http://www.w3.org/2000/09/xmldsig#rsa-sha1')}`,
        ),
    ],
    ['a prototype as algorithm', (host) => redirectQuery(writeLogout(host)).replace(/SigAlg=[^&]*/, 'SigAlg=constructor')],
    ['a second RelayState in another spelling', (host) => `%52elayState=evil&${redirectQuery(writeLogout(host))}`],
    ['a second SigAlg in another spelling', (host) => `%53igAlg=rsa-md5&${redirectQuery(writeLogout(host))}`],
    [
      'a RelayState that is spelt so that it is not signed',
      (host) => `${redirectQuery(writeLogout(host)).replace(/&RelayState=[^&]*/, '')}&%52elayState=evil`,
    ],
    ['another RelayState', (host) => redirectQuery(writeLogout(host)).replace('r%2B1', 'evil')],
    [
      'a second request in front',
      (host) =>
        `SAMLRequest=${encodeURIComponent(deflateRawSync(writeLogout(host, { nameId: 'ada-1' })).toString('base64'))}&${redirectQuery(writeLogout(host, { nameId: 'eve' }))}`,
    ],
    [
      'an encoded name beside it',
      (host) =>
        `${redirectQuery(writeLogout(host, { nameId: 'eve' }))}&%53AMLRequest=${encodeURIComponent(deflateRawSync(writeLogout(host)).toString('base64'))}`,
    ],
    ['another issuer', (host) => redirectQuery(writeLogout(host, { issuer: 'https://evil.example' }))],
    ['another destination', (host) => redirectQuery(writeLogout(host, { destination: 'https://evil.example' }))],
    ['a time that is over', (host) => redirectQuery(writeLogout(host, { end: -61_000 }))],
    ['a request of yesterday', (host) => redirectQuery(writeLogout(host, { issued: -86_400_000 }))],
    ['a bomb', () => redirectQuery(`<a>${'0'.repeat(20_000_000)}</a>`)],
    ['a response inside', (host) => redirectQuery(writeLogout(host).replaceAll('LogoutRequest', 'Response'))],
    ['a comment in the NameID', (host) => redirectQuery(writeLogout(host, { nameId: 'ada-1<!---->.evil' }))],
  ]
  it('a forged request ends nothing and is a 4xx or an error page', async () => {
    const { host, client, told } = await open()
    for (const [name, make] of forged) {
      const answer = await new Client(host.auth).get(`/saml/acme/logout?${make(host)}`)
      expect([name, answer.headers.get('location') ?? '/error']).toEqual([name, expect.stringContaining('/error')])
      expect(answer.status, name).toBeLessThan(500)
      expect(await client.session(), name).not.toBeNull()
    }
    const wrapped = sign(writeLogout(host, { nameId: 'eve' }), { what: 'response' })
    const inside = wrapped.replace('</samlp:LogoutRequest>', `<samlp:Extensions>${wrapped}</samlp:Extensions></samlp:LogoutRequest>`)
    for (const xml of [
      writeLogout(host),
      sign(writeLogout(host), { what: 'response', keys: otherKeys }),
      wrapped.replace('eve', 'ada-1'),
      inside.replace('eve', 'ada-1'),
    ])
      expect((await postLogout(new Client(host.auth), xml)).headers.get('location')).toContain('/error')
    expect([await client.session(), told]).toEqual([expect.anything(), []])
  })
})
