/** Clients with certificates (RFC 8705): what the header of a proxy says, and what it does not. */
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { clients, issuer, world } from './_authorization-server.ts'

const header = 'client-cert'
const grant = { grant_types: ['client_credentials' as const], scope: 'read' }
let own: X509Certificate
let second: X509Certificate

beforeAll(() => {
  const names = 'subjectAltName=DNS:client.example,URI:urn:client:1'
  own = makeCertificate('/C=DE/O=Acme, Inc/CN=client', names)
  second = makeCertificate('/C=DE/O=Acme/CN=client.example', 'subjectAltName=DNS:other.example')
})

function makeCertificate(subject: string, names: string): X509Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-mtls-'))
  const cert = join(folder, 'cert.pem')
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', join(folder, 'key.pem'), '-out', cert]
  execFileSync('openssl', ['req', '-x509', ...curve, '-days', '30', '-subj', subject, '-addext', names], { stdio: 'ignore' })
  const made = new X509Certificate(readFileSync(cert))
  rmSync(folder, { recursive: true })
  return made
}
const inBase64 = (certificate: X509Certificate): string => `:${certificate.raw.toString('base64')}:`
const inPem = (certificate: X509Certificate): string => encodeURIComponent(certificate.toString())

async function start() {
  const jwk = { ...(await exportJWK(own.publicKey)), x5c: [own.raw.toString('base64')] }
  const host = await world(
    {
      clients: [
        ...clients!,
        {
          client_id: 'dns',
          client_name: 'A',
          ...grant,
          token_endpoint_auth_method: 'tls_client_auth',
          tls_client_auth_san_dns: 'client.example',
        },
        {
          client_id: 'uri',
          client_name: 'B',
          ...grant,
          token_endpoint_auth_method: 'tls_client_auth',
          tls_client_auth_san_uri: 'urn:client:1',
        },
        {
          client_id: 'dn',
          client_name: 'C',
          ...grant,
          token_endpoint_auth_method: 'tls_client_auth',
          tls_client_auth_subject_dn: 'CN=client,O=Acme\\, Inc,C=DE',
        },
        { client_id: 'self', client_name: 'D', ...grant, token_endpoint_auth_method: 'self_signed_tls_client_auth', jwks: { keys: [jwk] } },
      ],
      mutualTls: { header, chainVerified: true },
    },
    { trustProxy: 1 },
  )
  const token = async (client_id: string, headers: Record<string, string>, more: Record<string, string> = {}) => {
    const form = { grant_type: 'client_credentials', client_id, resource: 'https://api.example/', ...more }
    const answer = await host.post('/oauth2/token', form, headers)
    return [answer.status, ((await answer.json()) as { error?: string }).error]
  }
  return { ...host, token }
}
const good = [200, undefined]
const refused = [401, 'invalid_client']

describe('a certificate', () => {
  it.each(['dns', 'uri', 'dn', 'self'])('of the client "%s" authenticates it, in both forms of the header', async (id) => {
    const { token } = await start()
    expect([await token(id, { [header]: inBase64(own) }), await token(id, { [header]: inPem(own) })]).toEqual([good, good])
  })

  it.each(['dns', 'uri', 'dn', 'self'])('of another subject, something else, and none do not authenticate "%s"', async (id) => {
    const { token } = await start()
    for (const headers of [
      { [header]: inBase64(second) },
      {},
      { [header]: '' },
      { [header]: ':AAAA:' },
      { [header]: '%' },
      { [header]: `${inBase64(own)}, ${inBase64(second)}` },
      { [header]: encodeURIComponent(second.toString() + own.toString()) },
      { [header]: 'A'.repeat(20_000) },
      { 'x-client-cert': inBase64(own) },
    ])
      expect(await token(id, headers)).toEqual(refused)
  })

  it('counts in its time alone', async () => {
    const { token, runtime } = await start()
    runtime.advance(31 * 86_400_000)
    for (const id of ['dns', 'self']) expect(await token(id, { [header]: inBase64(own) })).toEqual(refused)
  })

  it('is no proof beside a secret or an assertion, and none for a client with another method', async () => {
    const { token } = await start()
    const headers = { [header]: inBase64(own) }
    expect(await token('dns', headers, { client_secret: 's'.repeat(40) })).toEqual(refused)
    expect(await token('partner', headers)).toEqual(refused)
    expect(await token('unknown', headers)).toEqual(refused)
  })
})

it('a name in a certificate counts only where the proxy verifies the chain: a certificate can be made with any name', async () => {
  const host = await world({ mutualTls: { header } }, { trustProxy: 1 })
  const made = await host.auth.authorizationServer.clients.create({
    client_name: 'A',
    ...grant,
    token_endpoint_auth_method: 'tls_client_auth',
    tls_client_auth_san_dns: 'client.example',
  })
  const fields = { grant_type: 'client_credentials', client_id: made.client_id, resource: 'https://api.example/' }
  expect((await host.post('/oauth2/token', fields, { [header]: inBase64(own) })).status).toBe(401)
  const answer = await host.auth.handler(new Request(`${issuer}/.well-known/openid-configuration`))
  const metadata = (await answer.json()) as Record<string, unknown>
  expect(metadata['token_endpoint_auth_methods_supported']).toContain('self_signed_tls_client_auth')
  expect(metadata['token_endpoint_auth_methods_supported']).not.toContain('tls_client_auth')
})

it('the metadata name the methods where the option is set', async () => {
  const read = async (host: Awaited<ReturnType<typeof world>>) =>
    (await (await host.auth.handler(new Request(`${issuer}/.well-known/openid-configuration`))).json()) as Record<string, string[]>
  expect((await read(await start()))['token_endpoint_auth_methods_supported']).toEqual(
    expect.arrayContaining(['tls_client_auth', 'self_signed_tls_client_auth']),
  )
  expect((await read(await world()))['token_endpoint_auth_methods_supported']).not.toContain('tls_client_auth')
})

it('strangers do not register with a certificate, and mistakes of the configuration are said at start', async () => {
  const host = await world({ registration: {}, mutualTls: { header } }, { trustProxy: 1 })
  const made = await host.auth.handler(
    new Request(`${issuer}/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: ['https://a.example/cb'],
        token_endpoint_auth_method: 'tls_client_auth',
        tls_client_auth_san_dns: 'client.example',
      }),
    }),
  )
  expect(made.status).toBe(400)
  await expect(world({ mutualTls: { header } })).rejects.toThrow('`trustProxy` is off')
  await expect(world({ mutualTls: { header: 'a b' } }, { trustProxy: 1 })).rejects.toThrow('`mutualTls.header`')
  const named = { client_id: 'dns', client_name: 'A', ...grant, token_endpoint_auth_method: 'tls_client_auth' as const }
  await expect(world({ clients: [{ ...named, tls_client_auth_san_dns: 'a.example' }] })).rejects.toThrow('needs `mutualTls`.')
  await expect(
    world({ clients: [{ ...named, tls_client_auth_san_dns: 'a.example' }], mutualTls: { header } }, { trustProxy: 1 }),
  ).rejects.toThrow('needs `mutualTls` with `chainVerified`')
  await expect(world({ clients: [{ ...named, tls_client_auth_san_dns: 'a.example', tls_client_auth_san_uri: 'urn:a' }] })).rejects.toThrow(
    'needs one of',
  )
})
