/** Step-up at the identity provider, and encrypted assertions that an attacker made with our public key. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { Client } from '../_setup.ts'
import { begin, connection, type Host, origin, otherKeys, post, samlHost, sign, signIn, spKeys, writeResponse } from './_idp.ts'

const gold = 'urn:example:gold'
const [form, close] = [/name="answer" value="([^"]+)"/, '</saml:Assertion>']

describe('step-up', () => {
  async function demand(more: object = {}): Promise<{ host: Host; client: Client; id: string; xml: string; require(): Promise<unknown> }> {
    const host = samlHost([connection('acme', { mfaContexts: [gold] })])
    const auth = host.auth.use(stepUpPlugin())
    const client = new Client(auth)
    await signIn(host, client)
    host.runtime.advance(600_000)
    const require = (): Promise<unknown> =>
      auth.stepUp.require(new Request(`${origin}/pay`, { headers: { cookie: client.cookieHeader(), accept: 'text/html' } }), more)
    const response = (await require()) as Response
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      client.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const url = new URL(response.headers.get('location') ?? 'about:blank')
    const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
    return { host, client, id: /\bID="([^"]+)"/.exec(xml)?.[1] ?? '', xml, require }
  }
  async function finish(client: Client, xml: string): Promise<string> {
    const page = await (await post(client, xml)).text()
    return (await client.post('/saml/acme/continue', { answer: form.exec(page)?.[1] ?? '' })).headers.get('location') ?? ''
  }

  it('asks with ForceAuthn and the classes, and renews the session by the answer', async () => {
    const { host, client, id, xml, require } = await demand({ acr: [gold] })
    expect(xml).toContain('ForceAuthn="true"')
    expect(xml).toContain(`<saml:AuthnContextClassRef xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${gold}<`)
    expect(await finish(client, sign(writeResponse({ now: host.runtime.now(), request: id, context: gold })))).toContain('/pay')
    expect(await require()).not.toBeInstanceOf(Response)
    expect(host.logger.errors).toEqual([])
  })

  it.each([
    ['another account', { nameId: 'eve-1', context: gold }],
    ['another class', { context: 'urn:example:bronze' }],
  ])('an answer about %s changes nothing', async (_, parts) => {
    const { host, client, id, require } = await demand({ acr: [gold] })
    await finish(client, sign(writeResponse({ now: host.runtime.now(), request: id, ...parts })))
    expect(await require()).toBeInstanceOf(Response)
  })

  it('an answer with an old proof changes nothing', async () => {
    const { host, client, id, require } = await demand()
    const xml = writeResponse({ now: host.runtime.now(), request: id })
    const old = new Date(host.runtime.now() - 600_000).toISOString()
    await finish(client, sign(xml.replace(/AuthnInstant="[^"]+"/, `AuthnInstant="${old}"`)))
    expect(await require()).toBeInstanceOf(Response)
  })
})

describe('an encrypted assertion', () => {
  const folder = mkdtempSync(join(tmpdir(), 'saml-encrypted-'))
  /** A response whose assertion was replaced by its encrypted form; `content` replaces the assertion. */
  function encrypt(
    xml: string,
    { key = 'rsa-oaep-mgf1p', data = 'aes256-cbc', content }: { key?: string; data?: string; content?: string } = {},
  ): string {
    const assertion = /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? ''
    const paths = ['data.xml', 'template.xml', 'out.xml', 'sp.pem'].map((name) => join(folder, name)) as [string, string, string, string]
    const enc = 'http://www.w3.org/2001/04/xmlenc#'
    writeFileSync(paths[0], content ?? assertion)
    writeFileSync(
      paths[1],
      `<xenc:EncryptedData xmlns:xenc="${enc}" Type="${enc}Element"><xenc:EncryptionMethod Algorithm="${enc}${data}"/><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="${enc}${key}"/><xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedData>`,
    )
    writeFileSync(paths[3], spKeys.certificate)
    const session = data === 'tripledes-cbc' ? 'des-192' : 'aes-256'
    const flags = [
      '--encrypt',
      '--pubkey-cert-pem',
      paths[3],
      '--session-key',
      session,
      '--binary-data',
      paths[0],
      '--output',
      paths[2],
      paths[1],
    ]
    execFileSync('/usr/bin/xmlsec1', flags, { stdio: 'pipe' })
    const box = readFileSync(paths[2], 'utf8')
      .replace(/<\?xml[^>]*\?>/, '')
      .trim()
    return xml.replace(assertion, `<saml:EncryptedAssertion>${box}</saml:EncryptedAssertion>`)
  }
  /** The message with one bit changed: of the key (value 0) or the text (value 1), in the byte at `offset`. */
  function breakByte(xml: string, value: 0 | 1, offset: number): string {
    const found = [...xml.matchAll(/<xenc:CipherValue>([^<]+)</g)][value]?.[1] ?? ''
    const bytes = Buffer.from(found, 'base64')
    const at = offset < 0 ? bytes.length + offset : offset
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x80, at)
    return xml.replace(found, bytes.toString('base64'))
  }
  const inside = (xml: string): string => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? ''

  const cases: [string, boolean, (good: string) => string][] = [
    ['signed inside', true, (good) => encrypt(sign(good))],
    ['inside a signed response', true, (good) => sign(encrypt(good), { what: 'response' })],
    ['not signed at all', false, (good) => encrypt(good)],
    ['signed by another key', false, (good) => encrypt(sign(good, { keys: otherKeys }))],
    ['with a comment inside', false, (good) => encrypt(sign(good), { content: inside(sign(good)).replace('ada-1', 'ada<!--x-->-1') })],
    ['with a document type inside', false, (good) => encrypt(sign(good), { content: `<!DOCTYPE x>${inside(sign(good))}` })],
    ['with two assertions inside', false, (good) => encrypt(sign(good), { content: inside(sign(good)) + inside(good) })],
    [
      'wrapped inside',
      false,
      (good) =>
        encrypt(sign(good), {
          content: inside(good)
            .replace('ada-1', 'root')
            .replace(close, `${inside(sign(good))}${close}`),
        }),
    ],
    ['with another element inside', false, (good) => encrypt(sign(good), { content: '<a/>' })],
    ['with text inside', false, (good) => encrypt(sign(good), { content: 'x'.repeat(64) })],
    ['with a key of RSA 1.5', false, (good) => encrypt(sign(good), { key: 'rsa-1_5' })],
    ['with Triple DES', false, (good) => encrypt(sign(good), { data: 'tripledes-cbc' })],
    // The byte before the last block of 16 changes the length of the padding in it: above 16, whatever it was.
    ['with a broken padding', false, (good) => breakByte(encrypt(sign(good)), 1, -17)],
    ['with a broken key', false, (good) => breakByte(encrypt(sign(good)), 0, 0)],
    ['beside a clear one', false, (good) => encrypt(sign(good)).replace('</samlp:Response>', `${inside(good)}</samlp:Response>`)],
  ]

  it('signs in where it is signed; all else is refused, and answers tell nothing of a key or a padding', async () => {
    const host = samlHost([connection('acme', { decryption: [otherKeys, spKeys] })])
    const answers = new Set<string>()
    for (const [name, works, make] of cases) {
      const client = new Client(host.auth)
      const { id: request } = await begin(client)
      const answer = await post(client, make(writeResponse({ now: host.runtime.now(), request })))
      expect([name, (await client.session()) !== null], host.logger.errors.at(-1)?.message).toEqual([name, works])
      if (!works) answers.add(`${answer.status} ${answer.headers.get('location')}`)
    }
    expect(answers.size).toBe(1)
    rmSync(folder, { recursive: true })
  })
})
