/** Metadata of identity providers: what is read, what is refused, and the change of a certificate while the app runs. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allowInsecureRequests, definePlugin, type Kernel } from 'authkernel/kernel'
import { createPublicFetch } from 'authkernel/kernel/protocols'
import type { SamlMetadata } from 'authkernel/plugins/saml'
import { Client } from '../_setup.ts'
import { begin, connection, idpEntity, idpKeys, otherKeys, type Pair, post, samlHost, sign, signIn, writeResponse } from './_idp.ts'

const bare = ({ certificate }: Pair): string => certificate.replace(/-----[A-Z ]+-----|\s/g, '')
const key = (pair: Pair, use = 'signing'): string =>
  `<KeyDescriptor use="${use}"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>\n${bare(pair)}\n</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`
const service = (name: string, binding: string, path: string): string =>
  `<${name} Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="https://idp.example${path}"/>`
const services =
  service('SingleLogoutService', 'HTTP-POST', '/slo') +
  service('SingleSignOnService', 'HTTP-POST', '/post') +
  service('SingleSignOnService', 'HTTP-Redirect', '/sso')
const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol'

function writeMetadata(keys: string, { body = services, more = '', entity = idpEntity } = {}): string {
  return `<?xml version="1.0"?><!-- made by hand --><EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entity}"${more}><IDPSSODescriptor protocolSupportEnumeration="${protocol}">${keys}${body}</IDPSSODescriptor></EntityDescriptor>`
}

let inside: Kernel
const probe = definePlugin({ name: 'probe', setup: (kernel) => void (inside = kernel) })
const parse = (xml: string): Promise<SamlMetadata> => inside.service('samlMetadata').parse(xml)

let server: Server
let ca = ''
let port = 0
let answer = ''
let asked = 0

beforeAll(async () => {
  await samlHost([], {}, [probe]).auth.ready()
  const folder = mkdtempSync(join(tmpdir(), 'saml-metadata-'))
  const [privateKey, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=idp.example', '-addext', 'subjectAltName=DNS:idp.example']
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', privateKey, '-out', cert, '-days', '2', ...subject],
    { stdio: 'ignore' },
  )
  ca = readFileSync(cert, 'utf8')
  server = createServer({ key: readFileSync(privateKey), cert: ca }, (_request, response) => {
    asked++
    response.writeHead(answer === '' ? 503 : 200, { 'content-type': 'application/samlmetadata+xml' }).end(answer)
  })
  rmSync(folder, { recursive: true })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))))

describe('metadata', () => {
  it('gives addresses, bindings and signing certificates', async () => {
    const read = await parse(writeMetadata(key(idpKeys) + key(otherKeys, 'encryption')))
    expect(read).toMatchObject({
      entityId: idpEntity,
      signInUrl: 'https://idp.example/sso',
      binding: 'redirect',
      signOutUrl: 'https://idp.example/slo',
      signOutBinding: 'post',
    })
    expect(read.certificates).toHaveLength(1)
    expect(read.certificates[0]?.notAfter.getTime()).toBeGreaterThan(Date.now())
  })

  it.each([
    ['no XML', 'nonsense', 'cannot be read'],
    ['an entity', `<!DOCTYPE x [<!ENTITY a "b">]>${writeMetadata(key(idpKeys))}`, 'cannot be read'],
    ['a service provider', writeMetadata(key(idpKeys)).replaceAll('IDPSSO', 'SPSSO'), 'no SAML 2.0 identity provider'],
    ['SAML 1.1', writeMetadata(key(idpKeys)).replace(protocol, 'urn:oasis:names:tc:SAML:1.1:protocol'), 'no SAML 2.0 identity provider'],
    ['no certificate', writeMetadata(''), 'no signing certificate'],
    ['a broken certificate', writeMetadata(key({ privateKey: '', certificate: 'AAAA' })), 'certificate that cannot be read'],
    ['no entity id', writeMetadata(key(idpKeys), { entity: '' }), 'no `entityID`'],
    ['no service', writeMetadata(key(idpKeys), { body: '' }), 'no SingleSignOnService'],
    [
      'a script as its service',
      writeMetadata(key(idpKeys), { body: services.replaceAll('https:', 'javascript:') }),
      'no SingleSignOnService',
    ],
    ['200,000 open comments', '<!--'.repeat(100_000), 'cannot be read'],
  ])('%s is refused', async (_, xml, told) => {
    await expect(parse(xml)).rejects.toThrow(told)
  })

  it('by URL is read once, again when a signature fits no certificate, and kept while the address fails', async () => {
    answer = writeMetadata(key(otherKeys))
    const fetching = definePlugin({
      name: 'fetching',
      setup: (kernel) => kernel.provide('publicFetch', createPublicFetch({ allow: ['127.0.0.1'], ca, lookup: () => ['127.0.0.1'] })),
    })
    const host = samlHost([connection('acme', { idp: undefined, metadata: `https://idp.example:${port}/metadata` })], {}, [fetching])
    await signIn(host, new Client(host.auth), {}, { keys: otherKeys })
    expect([host.data.users.size, asked]).toEqual([1, 1])
    // The provider changes its key. Wrong signatures make it read at most once a minute.
    answer = writeMetadata(key(idpKeys))
    await signIn(host, new Client(host.auth), { nameId: 'early', attributes: {} })
    expect([host.data.users.size, asked]).toEqual([1, 1])
    host.runtime.advance(61_000)
    await signIn(host, new Client(host.auth), { nameId: 'later', attributes: {} })
    expect([host.data.users.size, asked]).toEqual([2, 2])
    answer = ''
    host.runtime.advance(2 * 3_600_000)
    await signIn(host, new Client(host.auth), { nameId: 'last', attributes: {} })
    expect(host.data.users.size).toBe(3)
    expect(host.logger.warnings).toContain('saml-metadata-stale')
    host.runtime.advance(8 * 86_400_000)
    expect((await new Client(host.auth).post('/signin/acme')).headers.get('location')).toContain('/error')
  })

  it('by URL of another identity provider signs no user in, and is logged with the reason', async () => {
    const fetching = definePlugin({
      name: 'fetching',
      setup: (kernel) => kernel.provide('publicFetch', createPublicFetch({ allow: ['127.0.0.1'], ca, lookup: () => ['127.0.0.1'] })),
    })
    const metadata = `https://idp.example:${port}/other`
    const host = samlHost(
      [connection('acme', { idp: undefined, metadata }), connection('strict', { idp: undefined, metadata, idpEntityId: idpEntity })],
      {},
      [fetching],
    )
    answer = writeMetadata(key(idpKeys))
    const waiting = new Client(host.auth)
    const request = await begin(waiting, 'strict')
    await signIn(host, new Client(host.auth), { provider: 'strict' })
    expect(host.data.users.size).toBe(1)
    answer = writeMetadata(key(otherKeys), { entity: 'https://taken.example/metadata' })
    // Read anew because the signature fits no certificate: the new key must not sign in the name of the former provider.
    host.runtime.advance(61_000)
    const logged = {
      type: 'SamlProviderChanged',
      cause: { check: 'issuer', expected: idpEntity, received: 'https://taken.example/metadata' },
    }
    await signIn(host, new Client(host.auth), { nameId: 'mallory', attributes: {} }, { keys: otherKeys })
    expect(host.logger.errors.at(-1)).toMatchObject(logged)
    // The provider whose entity id is given begins no sign-in there, and takes no answer: neither of the new one nor of the old one.
    const begun = await new Client(host.auth).post('/signin/strict')
    expect(begun.headers.get('location')).toContain('error=SamlProviderChanged')
    expect(host.logger.errors.at(-1)).toMatchObject({ ...logged, cause: { ...logged.cause, provider: 'strict' } })
    for (const keys of [otherKeys, idpKeys])
      for (const issuer of ['https://taken.example/metadata', idpEntity]) {
        const parts = {
          now: host.runtime.now(),
          provider: 'strict',
          request: request.id,
          issuer,
          responseIssuer: issuer,
          nameId: 'mallory',
        }
        const refused = await post(waiting, sign(writeResponse(parts), { keys }), { provider: 'strict' })
        expect([refused.status < 500, await waiting.session()]).toEqual([true, null])
      }
    expect(host.data.users.size).toBe(1)
  })

  it('by URL leads to https alone, unless the symbol permits http', async () => {
    answer = writeMetadata(key(idpKeys), { body: services.replaceAll('https:', 'http:') })
    const fetching = definePlugin({
      name: 'fetching',
      setup: (kernel) => kernel.provide('publicFetch', createPublicFetch({ allow: ['127.0.0.1'], ca, lookup: () => ['127.0.0.1'] })),
    })
    const metadata = `https://idp.example:${port}/plain`
    const host = samlHost(
      [
        connection('acme', { idp: undefined, metadata }),
        connection('text', { idp: undefined, metadata: answer }),
        connection('insecure', { idp: undefined, metadata, [allowInsecureRequests]: true }),
      ],
      {},
      [fetching],
    )
    for (const id of ['acme', 'text']) {
      const begun = await new Client(host.auth).post(`/signin/${id}`)
      expect(begun.headers.get('location')).toContain('/error')
      expect(host.logger.errors.at(-1)).toMatchObject({ type: 'SamlMetadataError', message: expect.stringContaining('is not https') })
    }
    expect((await begin(new Client(host.auth), 'insecure')).url.protocol).toBe('http:')
  })
})
