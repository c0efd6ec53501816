/** Clients with certificates (RFC 8705): what the header of a proxy says, and what it does not. */
import { execFileSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyAccessToken } from 'authkernel/jwt'
import type { Kernel } from 'authkernel/kernel'
import { decodeJwt, exportJWK } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { api, clients, issuer, secret, signedApi, visit, world } from './_authorization-server.ts'

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
  let kernel: Kernel | undefined
  const probe = { name: 'inside', setup: (given: Kernel) => void (kernel = given) }
  const host = await world({ mutualTls: { header } }, { trustProxy: 1 }, [probe])
  const metadata = {
    client_name: 'A',
    ...grant,
    token_endpoint_auth_method: 'tls_client_auth' as const,
    tls_client_auth_san_dns: 'client.example',
  }
  const { clients: stored } = host.auth.authorizationServer
  await expect(stored.create(metadata)).rejects.toMatchObject({ status: 400, message: expect.stringContaining('chainVerified') })
  // One that was stored while the proxy verified the chain.
  const { token_endpoint_auth_method: _method, tls_client_auth_san_dns: _name, ...plain } = metadata
  const made = await stored.create({ ...plain, token_endpoint_auth_method: 'client_secret_basic' })
  const table = (await kernel!.contextOf({ job: 'test' })).records('oauthClient')
  await table.update(made.client_id, { metadata: { ...made.metadata, ...metadata }, secret: null })
  const fields = { grant_type: 'client_credentials', client_id: made.client_id, resource: 'https://api.example/' }
  expect((await host.post('/oauth2/token', fields, { [header]: inBase64(own) })).status).toBe(401)
  const answer = await host.auth.handler(new Request(`${issuer}/.well-known/openid-configuration`))
  const described = (await answer.json()) as Record<string, unknown>
  expect(described['token_endpoint_auth_methods_supported']).toContain('self_signed_tls_client_auth')
  expect(described['token_endpoint_auth_methods_supported']).not.toContain('tls_client_auth')
})

it('a stored client with a method or a binding that nothing reads is an error when it is made or changed', async () => {
  const { auth } = await world({ registration: {} })
  const { clients: stored } = auth.authorizationServer
  const jwks = { keys: [{ ...(await exportJWK(own.publicKey)), x5c: [own.raw.toString('base64')] }] }
  const refused = { status: 400, message: expect.stringContaining('mutualTls') }
  await expect(
    stored.create({ client_name: 'A', ...grant, token_endpoint_auth_method: 'self_signed_tls_client_auth', jwks }),
  ).rejects.toMatchObject(refused)
  const made = await stored.create({ client_name: 'A', ...grant })
  await expect(
    stored.update(made.client_id, { metadata: { token_endpoint_auth_method: 'self_signed_tls_client_auth', jwks } }),
  ).rejects.toMatchObject(refused)
  await expect(stored.update(made.client_id, { metadata: { tls_client_certificate_bound_access_tokens: true } })).rejects.toMatchObject(
    refused,
  )
  const registered = await auth.handler(
    new Request(`${issuer}/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://a.example/cb'], tls_client_certificate_bound_access_tokens: true }),
    }),
  )
  expect([registered.status, ((await registered.json()) as { error: string }).error]).toEqual([400, 'invalid_client_metadata'])
  await expect(
    world({
      clients: [
        { client_id: 'b', client_name: 'B', redirect_uris: ['https://b.example/cb'], tls_client_certificate_bound_access_tokens: true },
      ],
    }),
  ).rejects.toThrow('needs `mutualTls`')
})

describe('tokens that are bound to a certificate (RFC 8705 section 3)', () => {
  const bound = { tls_client_certificate_bound_access_tokens: true }
  const redirect_uris = ['https://bound.example/cb']
  const thumbprint = (certificate: X509Certificate): string => createHash('sha256').update(certificate.raw).digest('base64url')
  const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange' as const

  async function startBound() {
    const host = await world(
      {
        clients: [
          ...clients!,
          { client_id: 'open', client_name: 'Open', redirect_uris, ...bound },
          {
            client_id: 'kept',
            client_name: 'Kept',
            client_secret: secret,
            redirect_uris,
            grant_types: ['authorization_code', 'refresh_token', 'client_credentials', exchange],
            ...bound,
          },
          { client_id: 'service', client_name: 'Service', client_secret: secret, grant_types: [exchange] },
        ],
        resources: [
          { resource: api, scopes: ['read'], introspectedBy: ['partner', 'service'] },
          { resource: signedApi, scopes: ['sign'], format: 'jwt' },
        ],
        mutualTls: { header },
      },
      { trustProxy: 1 },
      [{ name: 'policy', setup: (kernel) => kernel.hook('tokenExchange', () => 'delegation', { of: 'authorization-server' }) }],
    )
    const basic = { authorization: `Basic ${btoa(`kept:${secret}`)}` }
    const certificate = (one: X509Certificate) => ({ [header]: inBase64(one) })
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
    /** A user signs in to the client; the code is redeemed with these headers. */
    async function redeem(client_id: string, headers: Record<string, string>, scope = 'openid read offline_access') {
      const browser = await host.browser()
      const query = new URLSearchParams({
        response_type: 'code',
        client_id,
        redirect_uri: redirect_uris[0]!,
        scope,
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      })
      const code = new URL(await visit(browser, `${issuer}/oauth2/authorize?${query}`)).searchParams.get('code')!
      const form = { grant_type: 'authorization_code', code, redirect_uri: redirect_uris[0]!, code_verifier: verifier }
      return call({ ...form, ...(client_id === 'open' && { client_id }) }, headers)
    }
    async function call(form: Record<string, string>, headers: Record<string, string>) {
      const answer = await host.post('/oauth2/token', form, headers)
      const body = (await answer.json()) as { access_token: string; refresh_token: string; token_type: string; error?: string }
      return { ...body, status: answer.status }
    }
    const use = async (token: string, headers: Record<string, string> = {}, scheme = 'Bearer') =>
      (
        await host.auth.authorizationServer.authorize(new Request(api, { headers: { authorization: `${scheme} ${token}`, ...headers } }), {
          resource: api,
        })
      ).response?.status ?? 200
    const introspect = async (token: string) =>
      (await (await host.post('/oauth2/introspect', { token }, { authorization: `Basic ${btoa(`partner:${secret}`)}` })).json()) as Record<
        string,
        unknown
      >
    return { ...host, basic, certificate, redeem, call, use, introspect }
  }

  it('count with the certificate of the connection alone, at a resource and at userinfo; introspection says which', async () => {
    const { auth, basic, certificate, redeem, use, introspect } = await startBound()
    for (const [client, headers] of [
      ['open', {}],
      ['kept', basic],
    ] as const) {
      const { access_token: token, token_type } = await redeem(client, { ...headers, ...certificate(own) })
      expect(token_type).toBe('Bearer')
      expect(await introspect(token)).toMatchObject({ active: true, token_type: 'Bearer', cnf: { 'x5t#S256': thumbprint(own) } })
      expect([await use(token, certificate(own)), await use(token), await use(token, certificate(second))]).toEqual([200, 401, 401])
      const userinfo = async (more: Record<string, string>) =>
        (await auth.handler(new Request(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}`, ...more } }))).status
      expect([await userinfo(certificate(own)), await userinfo({}), await userinfo(certificate(second))]).toEqual([200, 401, 401])
    }
  })

  it('need the certificate at the token endpoint, and a code is not used up without it', async () => {
    const { basic, redeem, call, certificate } = await startBound()
    expect(await redeem('kept', basic)).toMatchObject({ status: 400, error: 'invalid_request' })
    expect(await call({ grant_type: 'client_credentials', scope: 'read' }, basic)).toMatchObject({ error: 'invalid_request' })
    expect(await call({ grant_type: 'client_credentials', scope: 'read' }, { ...basic, ...certificate(own) })).toMatchObject({
      status: 200,
    })
  })

  it('are refreshed by a public client with its certificate alone, and by one that authenticates with a new one', async () => {
    const { basic, certificate, redeem, call, use, introspect } = await startBound()
    const open = await redeem('open', certificate(own))
    const form = { grant_type: 'refresh_token', refresh_token: open.refresh_token, client_id: 'open' }
    expect(await call(form, certificate(second))).toMatchObject({ status: 400, error: 'invalid_grant' })
    expect(await call(form, {})).toMatchObject({ status: 400 })
    // What was refused used nothing up.
    expect(await call(form, certificate(own))).toMatchObject({ status: 200 })
    const kept = await redeem('kept', { ...basic, ...certificate(own) })
    const next = await call({ grant_type: 'refresh_token', refresh_token: kept.refresh_token }, { ...basic, ...certificate(second) })
    expect(await introspect(next.access_token)).toMatchObject({ cnf: { 'x5t#S256': thumbprint(second) } })
    expect([await use(next.access_token, certificate(second)), await use(next.access_token, certificate(own))]).toEqual([200, 401])
  })

  it('as JWT say it, and verifyAccessToken wants the certificate of the connection', async () => {
    const { auth, basic, certificate, redeem } = await startBound()
    const { access_token: token } = await redeem('kept', { ...basic, ...certificate(own) }, 'sign')
    expect(decodeJwt(token)).toMatchObject({ cnf: { 'x5t#S256': thumbprint(own) } })
    const checks = { jwks: await auth.jwt.jwks(new Request(issuer)), audience: signedApi, issuer, algorithms: ['ES256'] as const }
    await expect(verifyAccessToken(token, checks)).rejects.toThrow('bound to a certificate')
    await expect(verifyAccessToken(token, { ...checks, certificate: second.raw })).rejects.toThrow('another certificate')
    await expect(verifyAccessToken(token, { ...checks, certificate: '' })).rejects.toThrow('another certificate')
    for (const given of [own.raw, thumbprint(own)])
      expect(await verifyAccessToken(token, { ...checks, certificate: given })).toMatchObject({ sub: 'ada' })
  })

  it('are exchanged with the certificate by their client, and never for a token that every holder may use', async () => {
    const { basic, certificate, redeem, call } = await startBound()
    const { access_token } = await redeem('kept', { ...basic, ...certificate(own) })
    const form = { grant_type: exchange, subject_token: access_token, subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' }
    expect(await call(form, { ...basic, ...certificate(second) })).toMatchObject({ status: 400 })
    expect(await call(form, { ...basic, ...certificate(own) })).toMatchObject({ status: 200 })
    expect(await call(form, { authorization: `Basic ${btoa(`service:${secret}`)}`, ...certificate(own) })).toMatchObject({ status: 400 })
  })

  it('the metadata say so where the option is set', async () => {
    const read = async (host: Awaited<ReturnType<typeof world>>) =>
      (await (await host.auth.handler(new Request(`${issuer}/.well-known/openid-configuration`))).json()) as Record<string, unknown>
    expect((await read(await startBound()))['tls_client_certificate_bound_access_tokens']).toBe(true)
    expect(await read(await world())).not.toHaveProperty('tls_client_certificate_bound_access_tokens')
  })
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
