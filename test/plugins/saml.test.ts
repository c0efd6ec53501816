/** Sign-in by SAML 2.0: requests, responses as identity providers send them, what is stored, and what the user sees. */
import { describe, expect, it } from 'vitest'
import { allowInsecureRequests } from 'authkernel/kernel'
import { acceptSha1 } from 'authkernel/plugins/saml'
import { Client } from '../_setup.ts'
import {
  base,
  begin,
  connection,
  type Host,
  idpEntity,
  idpKeys,
  origin,
  otherKeys,
  post,
  samlHost,
  sign,
  signIn,
  spKeys,
  writeResponse,
} from '../saml/_idp.ts'

const cookieOf = (client: Client): string[] => [...client.cookies.keys()]
const lastError = (host: Host): { type: string; message: string; cause: Record<string, unknown> } => host.logger.errors.at(-1) as never

describe('samlPlugin', () => {
  it('sends an AuthnRequest, takes the signed answer and signs in', async () => {
    const host = samlHost()
    const client = new Client(host.auth)
    const { xml, url } = await begin(client)
    expect(url.origin + url.pathname).toBe('https://idp.example/sso')
    expect(xml).toContain(`AssertionConsumerServiceURL="${base}/saml/acme/acs"`)
    expect(xml).toContain(`<saml:Issuer>${base}/saml/acme/metadata</saml:Issuer>`)
    const answer = await signIn(host, client)
    expect([answer.status, answer.headers.get('location'), host.logger.errors]).toEqual([302, `${origin}/inside`, []])
    expect((await client.session())?.user).toMatchObject({ email: 'ada@acme.example', name: 'Ada' })
    expect([...host.data.accounts.values()]).toMatchObject([{ provider: 'acme', type: 'saml', providerAccountId: 'ada-1' }])
    expect([...host.data.users.values()]).toMatchObject([{ emailVerified: null }])
    await signIn(host, new Client(host.auth))
    expect(host.data.users.size).toBe(1)
  })

  it('takes a signed response, and one whose both parts are signed', async () => {
    const host = samlHost()
    const client = new Client(host.auth)
    expect((await signIn(host, client, {}, { what: 'response' })).headers.get('location')).toBe(`${origin}/inside`)
    const other = new Client(host.auth)
    const { id: request } = await begin(other)
    await post(other, sign(sign(writeResponse({ now: host.runtime.now(), request })), { what: 'response' }))
    expect(await other.session()).not.toBeNull()
    expect(host.logger.errors).toEqual([])
  })

  it('verifies addresses of the trusted domains alone', async () => {
    const host = samlHost([connection('acme', { trustEmail: ['acme.example'] })])
    await signIn(host, new Client(host.auth))
    await signIn(host, new Client(host.auth), { nameId: 'eve-1', attributes: { email: ['eve@other.example'] } })
    expect([...host.data.users.values()].map(({ emailVerified }) => emailVerified !== null)).toEqual([true, false])
  })

  it('an answer counts once, in the browser that began, at the connection that it was asked of', async () => {
    const host = samlHost([connection(), connection('beta')])
    const [client, other] = [new Client(host.auth), new Client(host.auth)]
    const { id: request } = await begin(client)
    const xml = sign(writeResponse({ now: host.runtime.now(), request }))
    await begin(other)
    await post(other, xml)
    expect([await other.session(), lastError(host).type]).toEqual([null, 'InvalidCheck'])
    const kept = new Map(client.cookies)
    await post(client, xml)
    expect(await client.session()).not.toBeNull()
    const copy = new Client(host.auth)
    for (const [name, value] of kept) copy.cookies.set(name, value)
    await post(copy, xml)
    expect([await copy.session(), lastError(host).type]).toEqual([null, 'InvalidCheck'])
    const third = new Client(host.auth)
    const { id } = await begin(third, 'beta')
    await post(third, sign(writeResponse({ now: host.runtime.now(), request: id })))
    expect(await third.session()).toBeNull()
  })

  it('an assertion counts once, although it answers two requests', async () => {
    const host = samlHost()
    const client = new Client(host.auth)
    const [one, two] = [await begin(client), await begin(client)]
    const now = host.runtime.now()
    await post(client, sign(writeResponse({ now, request: one.id, id: '_same' })))
    client.cookies.delete('authkernel.session-token')
    await post(client, sign(writeResponse({ now, request: two.id, id: '_same' })))
    expect(lastError(host).cause).toMatchObject({ check: 'replay' })
  })

  it('says in the log which check failed, and what to change; nothing of it reaches the browser', async () => {
    const host = samlHost()
    const answer = await signIn(host, new Client(host.auth), { audience: 'https://wrong.example' })
    expect(answer.headers.get('location')).toBe(`${base}/error?error=Configuration`)
    expect(lastError(host)).toMatchObject({
      type: 'SamlResponseRefused',
      cause: { provider: 'acme', check: 'audience', expected: `${base}/saml/acme/metadata`, received: 'https://wrong.example' },
    })
    await signIn(host, new Client(host.auth), { status: 'urn:oasis:names:tc:SAML:2.0:status:RequestDenied' })
    expect(lastError(host)).toMatchObject({ type: 'SamlStatusError', cause: { received: 'RequestDenied' } })
    expect(lastError(host).message).toContain('Assign the user or a group')
  })

  it('takes a new certificate beside the old one, SHA-1 by its symbol alone, and an attribute instead of a transient NameID', async () => {
    const idp = { entityId: idpEntity, signInUrl: 'https://idp.example/sso', certificates: [otherKeys.certificate, idpKeys.certificate] }
    const rolled = samlHost([connection('acme', { idp })])
    await signIn(rolled, new Client(rolled.auth))
    const old = samlHost([connection('acme', { [acceptSha1]: true })])
    await signIn(old, new Client(old.auth), {}, { signatureAlgorithm: 'sha1', digestAlgorithm: 'sha1' })
    const named = samlHost([connection('acme', { subject: 'oid' })])
    const nameIdFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
    await signIn(named, new Client(named.auth), { nameIdFormat, nameId: '_1', attributes: { oid: ['o-1'] } })
    expect([rolled, old, named].map(({ data }) => [...data.accounts.values()].map(({ providerAccountId }) => providerAccountId))).toEqual([
      ['ada-1'],
      ['ada-1'],
      ['o-1'],
    ])
  })

  it('links the account to the user who is signed in: the answer comes once more as a request of this site', async () => {
    const host = samlHost([connection(), connection('beta')])
    const client = new Client(host.auth)
    await signIn(host, client)
    const answer = await signIn(host, client, { provider: 'beta', nameId: 'ada-beta' })
    const page = await answer.text()
    const sealed = /name="answer" value="([^"]+)"/.exec(page)?.[1] ?? ''
    expect([answer.status, page.includes('/saml/beta/continue')]).toEqual([200, true])
    expect((await client.post('/saml/beta/continue', { answer: sealed })).headers.get('location')).toBe(`${origin}/inside`)
    expect([...host.data.accounts.values()].map(({ userId }) => userId)).toEqual(Array(2).fill([...host.data.users.keys()][0]))
    await client.post('/saml/beta/continue', { answer: sealed })
    expect(lastError(host).type).toBe('InvalidCheck')
    expect(cookieOf(client)).not.toContain('authkernel.saml')
  })

  it('takes a sign-in that begins at the identity provider only with `idpInitiated`, and after a button', async () => {
    const [closed, open] = [samlHost(), samlHost([connection('acme', { idpInitiated: true })])]
    const make = ({ runtime }: Host): string => sign(writeResponse({ now: runtime.now() }))
    await post(new Client(closed.auth), make(closed))
    expect(lastError(closed).message).toContain('idpInitiated')
    const client = new Client(open.auth)
    const answer = await post(client, make(open), { relayState: `${origin}/deep` })
    const page = await answer.text()
    expect(page).toContain('ada@acme.example')
    expect([await client.session(), open.data.users.size]).toEqual([null, 0])
    const sealed = /name="answer" value="([^"]+)"/.exec(page)?.[1] ?? ''
    expect(
      (await client.send('/saml/acme/continue', { method: 'POST', body: new URLSearchParams({ answer: sealed }) })).status,
    ).toBeGreaterThan(300)
    expect(await client.session()).toBeNull()
    expect((await client.post('/saml/acme/continue', { answer: sealed })).headers.get('location')).toBe(`${origin}/deep`)
    expect(await client.session()).not.toBeNull()
    // With a request it is none, and it must not answer one of another browser.
    const again = new Client(open.auth)
    await post(again, sign(writeResponse({ now: open.runtime.now(), request: '_foreign' })))
    expect(await again.session()).toBeNull()
  })

  it('shows our metadata, with keys and both logout bindings', async () => {
    const host = samlHost([connection('acme', { signing: spKeys, decryption: spKeys })])
    const answer = await new Client(host.auth).get('/saml/acme/metadata')
    const xml = await answer.text()
    expect(answer.headers.get('content-type')).toContain('application/samlmetadata+xml')
    expect(xml).toContain(`entityID="${base}/saml/acme/metadata"`)
    expect(xml.match(/use="(\w+)"/g)).toEqual(['use="signing"', 'use="encryption"'])
    expect(xml.match(/SingleLogoutService/g)).toHaveLength(2)
  })

  it.each([
    ['idp', { idp: undefined }],
    ['metadata', { metadata: 'http://idp.example' }],
    ['idp.certificates[0]', { idp: { entityId: 'x', signInUrl: 'https://idp.example', certificates: ['nonsense'] } }],
    ['idp.signInUrl', { idp: { entityId: 'x', signInUrl: 'http://idp.example', certificates: [idpKeys.certificate] } }],
    ['clockSkew', { clockSkew: 301 }],
    ['signing', { signing: { privateKey: spKeys.privateKey, certificate: idpKeys.certificate } }],
    ['trustEmail', { trustEmail: 'acme.example' as never }],
    ['nameIdFormatt', { nameIdFormatt: 'x' } as never],
  ])('a wrong `%s` fails at the start, and is named', async (option, wrong) => {
    const { auth } = samlHost([connection('acme', wrong)])
    const told = await auth.ready().then(
      () => '',
      (error: Error) => error.message,
    )
    expect(told).toContain('acme')
    expect(told).toContain(option)
  })

  it('permits http by the symbol', async () => {
    const idp = { entityId: 'x', signInUrl: 'http://idp.example', certificates: [idpKeys.certificate] }
    await expect(samlHost([connection('acme', { idp, [allowInsecureRequests]: true })]).auth.ready()).resolves.toBeUndefined()
  })
})
