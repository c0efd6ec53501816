/** Connections of type SAML: the same rules as OpenID Connect, over responses that an identity provider signs. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { samlPlugin } from 'authkernel/plugins/saml'
import { beforeAll, describe, expect, it } from 'vitest'
import { begin, idpEntity, idpKeys, otherKeys, post, type ResponseParts, sign, spKeys, writeResponse } from '../saml/_idp.ts'
import { Client } from '../_setup.ts'
import { makeCertificate, movedRuntime, type SsoWorld, ssoWorld, system } from './_sso.ts'

const tls = makeCertificate()
const idp = {
  type: 'saml',
  name: 'Acme SAML',
  entityId: idpEntity,
  signInUrl: 'https://idp.example/sso',
  certificates: [idpKeys.certificate],
} as const
const runtime = movedRuntime()
let world: SsoWorld
let acme: string
let beta: string
beforeAll(async () => {
  const store = memoryAdapter(memoryData())
  world = await ssoWorld(store, { cert: tls.cert, runtime, plugins: [samlPlugin()] })
  for (const name of ['ann', 'bob', 'cy'])
    await store.createUser({
      id: name,
      email: `${name}@${{ ann: 'acme', bob: 'beta', cy: 'mail' }[name]}.example`,
      name,
      emailVerified: new Date(0),
    })
  acme = await world.company('Acme', 'ann', ['acme.example'])
  beta = await world.company('Beta', 'bob', ['beta.example'])
})

async function signIn(client: Client, provider: string, parts: Partial<ResponseParts> = {}): Promise<Response> {
  const { id: request } = await begin(client, provider)
  const answer = await post(client, sign(writeResponse({ now: runtime.now(), provider, request, ...parts })), { provider })
  const to = answer.headers.get('location') ?? ''
  // The bounce to a request of our own site, which has the cookies.
  return to.includes('/saml/') ? client.get(to) : answer
}

describe('a SAML connection', () => {
  it('signs in users of its domains, with the role of their groups, and tells our addresses', async () => {
    const { auth } = world
    const connection = await auth.sso.create(system, acme, { ...idp, roles: { groups: { Admins: 'admin' } } })
    expect([connection.callbackPath, connection.metadataPath]).toEqual([
      `/saml/${connection.providerId}/acs`,
      `/saml/${connection.providerId}/metadata`,
    ])
    const client = new Client(auth)
    const attributes = { mail: ['ada@acme.example'], displayName: ['Ada'], groups: ['Staff', 'Admins'] }
    await signIn(client, connection.providerId, { attributes })
    expect((await client.session())?.user).toMatchObject({ email: 'ada@acme.example', name: 'Ada' })
    const { members } = await auth.organizations.members(system, acme)
    expect(members.find(({ email }) => email === 'ada@acme.example')?.role).toBe('admin')
    expect((await world.store.getUserByEmail('ada@acme.example'))?.emailVerified).toBeInstanceOf(Date)
    expect((await client.get(connection.metadataPath!)).status).toBe(200)
    expect((await auth.sso.signIns(system, connection.id)).signIns).toMatchObject([{ outcome: 'ok' }])
  })

  it('is the user who had the address before', async () => {
    const connection = await world.auth.sso.create(system, acme, idp)
    const client = new Client(world.auth)
    await signIn(client, connection.providerId, { nameId: 'ann-1', attributes: { email: ['ann@acme.example'] } })
    expect((await client.session())?.user).toMatchObject({ name: 'ann' })
  })

  it.each([
    ['a user of another organization', { attributes: { email: ['bob@beta.example'] } }, false],
    ['a user of another organization, with other domains', { attributes: { email: ['bob@beta.example'] } }, true],
    ['a user of a domain of none', { attributes: { email: ['cy@mail.example'] } }, false],
    ['the user of an address of no proved domain, with other domains', { attributes: { email: ['cy@mail.example'] } }, true],
    ['a user without an address', { attributes: {} }, false],
  ])('does not sign in %s', async (_what, parts, otherDomains) => {
    const connection = await world.auth.sso.create(system, acme, { ...idp, otherDomains })
    const client = new Client(world.auth)
    await signIn(client, connection.providerId, { nameId: `eve-${connection.id}`, ...parts })
    expect(await client.session()).toBeNull()
    expect((await world.auth.sso.signIns(system, connection.id)).signIns[0]?.outcome).toMatch(/^(?:SsoRefused|AccountNotLinked)$/)
    expect(await world.store.listAccountsByUserId('bob')).toEqual([])
    await world.auth.sso.remove(system, connection.id)
  })

  it('takes no response of another connection, and none that another key signed; the log says what to mend', async () => {
    const { auth } = world
    const [mine, other] = [await auth.sso.create(system, acme, idp), await auth.sso.create(system, beta, idp)]
    const client = new Client(auth)
    const { id: request } = await begin(client, other.providerId)
    await post(client, sign(writeResponse({ now: runtime.now(), provider: mine.providerId, request })), { provider: other.providerId })
    expect(await client.session()).toBeNull()
    const second = new Client(auth)
    const begun = await begin(second, mine.providerId)
    const forged = sign(writeResponse({ now: runtime.now(), provider: mine.providerId, request: begun.id }), { keys: otherKeys })
    await post(second, forged, { provider: mine.providerId })
    expect(await second.session()).toBeNull()
    const [logged] = (await auth.sso.signIns(system, mine.id)).signIns
    expect([logged?.outcome, logged?.reason]).toEqual(['SamlResponseRefused', expect.stringMatching(/signature|certificate/i)])
  })

  it('rolls over its certificate without a new connection, and keeps its entity id', async () => {
    const { auth } = world
    const connection = await auth.sso.create(system, acme, { ...idp, certificates: [otherKeys.certificate] })
    const enter = async () => {
      const client = new Client(auth)
      await signIn(client, connection.providerId, { nameId: 'roll-1', attributes: { email: ['roll@acme.example'] } })
      return (await client.session()) !== null
    }
    expect(await enter()).toBe(false)
    await auth.sso.update(system, connection.id, { certificates: [otherKeys.certificate, idpKeys.certificate] })
    expect(await enter()).toBe(true)
    await expect(auth.sso.update(system, connection.id, { entityId: 'https://other.example' })).rejects.toThrow('Make a new connection')
    const { ok, checks } = await auth.sso.test(system, connection.id)
    // Both certificates of the test end within two days.
    expect([ok, checks.find(({ name }) => name === 'certificates')?.detail]).toEqual([false, expect.stringContaining('Add the next one')])
  })

  it('stores the key that signs requests encrypted, and shows it to no user', async () => {
    const connection = await world.auth.sso.create(system, acme, { ...idp, signing: spKeys })
    expect(JSON.stringify(connection)).not.toContain('PRIVATE')
    const { url } = await begin(new Client(world.auth), connection.providerId)
    expect(url.searchParams.get('Signature')).toBeTruthy()
  })

  it('mails owners and its contact before the last certificate ends, once, from thirty processes', async () => {
    const { auth, mails } = world
    const connection = await auth.sso.create(system, acme, { ...idp, name: 'Ending', contact: 'it@acme.example' })
    const mailed = () => mails.filter(({ text }) => text.includes('“Ending”'))
    await Promise.all(Array.from({ length: 30 }, () => auth.sso.warnOfCertificates()))
    // Certificates of the test end within two days.
    expect(
      mailed()
        .map(({ to }) => to)
        .toSorted(),
    ).toEqual(['ann@acme.example', 'it@acme.example'])
    expect(mailed()[0]?.subject).toContain('Acme')
    await auth.cleanup()
    expect(mailed()).toHaveLength(2)
    // The next certificate has warnings of its own.
    await auth.sso.update(system, connection.id, { certificates: [otherKeys.certificate] })
    await auth.cleanup()
    expect(mailed()).toHaveLength(4)
    await auth.sso.update(system, connection.id, { enabled: false, certificates: [spKeys.certificate] })
    expect(await auth.sso.warnOfCertificates()).toBe(0)
    await expect(auth.sso.update(system, connection.id, { contact: 'nobody' })).rejects.toThrow('`contact` must be an email address')
    await auth.sso.remove(system, connection.id)
  })

  it('opens encrypted assertions with stored keys, and demands the contexts that it stores', async () => {
    const { auth } = world
    const connection = await auth.sso.create(system, acme, {
      ...idp,
      decryption: [spKeys, otherKeys],
      authnContext: ['urn:demanded'],
      forceAuthn: true,
    })
    expect(JSON.stringify(await auth.sso.get(system, connection.id))).not.toContain('PRIVATE')
    const metadata = await (await new Client(auth).get(connection.metadataPath!)).text()
    expect(metadata).toContain('use="encryption"')
    const client = new Client(auth)
    const { xml } = await begin(client, connection.providerId)
    expect(xml).toMatch(/ForceAuthn="true"[\s\S]*>urn:demanded</)
    const refused = new Client(auth)
    await signIn(refused, connection.providerId, { nameId: 'ctx-1', attributes: { email: ['ctx@acme.example'] } })
    expect(await refused.session()).toBeNull()
    await signIn(client, connection.providerId, { nameId: 'ctx-1', context: 'urn:demanded', attributes: { email: ['ctx@acme.example'] } })
    expect(await client.session()).not.toBeNull()
    for (const wrong of [
      { decryption: [{ privateKey: 'x', certificate: 'y' }] },
      { authnContext: 'x' },
      { mfaContexts: [''] },
      { forceAuthn: 'yes' },
    ])
      await expect(auth.sso.update(system, connection.id, wrong as never)).rejects.toMatchObject({ type: 'SsoInput' })
    await auth.sso.remove(system, connection.id)
  })

  it('is made of metadata', async () => {
    const certificate = idpKeys.certificate.replace(/-----[^-]+-----|\s/g, '')
    const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${idpEntity}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/></IDPSSODescriptor></EntityDescriptor>`
    const { auth } = world
    const connection = await auth.sso.create(system, acme, { type: 'saml', name: 'Acme', metadata })
    expect(connection.settings).toMatchObject({ entityId: idpEntity, signInUrl: 'https://idp.example/sso' })
    const client = new Client(auth)
    await signIn(client, connection.providerId, { nameId: 'meta-1', attributes: { email: ['meta@acme.example'] } })
    expect(await client.session()).not.toBeNull()
    for (const wrong of ['<x/>', 'https://10.0.0.1/metadata', '<!DOCTYPE x [<!ENTITY y "z">]><x>&y;</x>'])
      await expect(auth.sso.create(system, acme, { type: 'saml', name: 'Acme', metadata: wrong })).rejects.toThrow(
        '`metadata` cannot be used',
      )
  })

  it('with a metadata address of which another identity provider takes hold signs no user in, and says why', async () => {
    const { auth } = world
    let entity = idpEntity
    const write = () =>
      `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entity}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${idpKeys.certificate.replace(/-----[^-]+-----|\s/g, '')}</X509Certificate></X509Data></KeyInfo></KeyDescriptor><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/></IDPSSODescriptor></EntityDescriptor>`
    const server = createServer({ key: tls.key, cert: tls.cert }, (_req, res) => void res.end(write()))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const metadata = `https://idp.example:${(server.address() as AddressInfo).port}/metadata`
      const connection = await auth.sso.create(system, acme, { type: 'saml', name: 'Moved', metadata })
      const enter = async (issuer: string) => {
        const client = new Client(auth)
        const attributes = { email: ['moved@acme.example'] }
        await signIn(client, connection.providerId, { nameId: 'moved-1', issuer, responseIssuer: issuer, attributes })
        return (await client.session()) !== null
      }
      expect(await enter(idpEntity)).toBe(true)
      const waiting = new Client(auth)
      const { id: request } = await begin(waiting, connection.providerId)
      entity = 'https://taken.example/metadata'
      // The metadata of before counts for an hour.
      runtime.advance(61 * 60_000)
      expect((await new Client(auth).post(`/signin/${connection.providerId}`)).headers.get('location')).toContain(
        'error=SamlProviderChanged',
      )
      const [logged] = (await auth.sso.signIns(system, connection.id)).signIns
      expect(logged).toMatchObject({ outcome: 'SamlProviderChanged', cause: 'issuer', reason: expect.stringContaining(entity) })
      // A sign-in that began before ends with nothing, whichever provider signs the answer.
      const parts = { now: runtime.now(), provider: connection.providerId, request, issuer: entity, responseIssuer: entity }
      await post(waiting, sign(writeResponse(parts)), { provider: connection.providerId })
      expect(await waiting.session()).toBeNull()
      const { checks } = await auth.sso.test(system, connection.id)
      expect(checks.find(({ name }) => name === 'issuer')).toMatchObject({ ok: false, detail: expect.stringContaining(entity) })
      // Neither a further read of the address nor the fields make it the same connection.
      for (const change of [{ metadata }, { entityId: entity }])
        await expect(auth.sso.update(system, connection.id, change)).rejects.toThrow('Make a new connection')
      // No mail tells of certificates of the other one.
      const before = world.mails.length
      await auth.sso.warnOfCertificates()
      expect(world.mails.slice(before).filter(({ text }) => text.includes('“Moved”'))).toEqual([])
      entity = idpEntity
      runtime.advance(61 * 60_000)
      expect(await enter(idpEntity)).toBe(true)
      await auth.sso.remove(system, connection.id)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it.each([
    [{ certificates: [] }, '`certificates` must be'],
    [{ signInUrl: 'http://idp.example' }, '`signInUrl` must be an https URL'],
    [{ signing: { privateKey: 'x' } }, '`signing` must have'],
    [{ clientId: 'app' }, 'a connection has no `clientId`'],
    [{ binding: 'artifact' }, '`binding` must be'],
    [{ certificates: ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'] }, 'certificate'],
  ])('refuses %j', async (wrong, message) => {
    await expect(world.auth.sso.create(system, acme, { ...idp, ...wrong } as never)).rejects.toThrow(message)
  })

  it('is what a policy demands', async () => {
    const { auth } = world
    for (const { id } of await auth.sso.list(system, beta)) await auth.sso.remove(system, id)
    const connection = await auth.sso.create(system, beta, { ...idp, entityId: idpEntity })
    await auth.sso.setPolicy(system, beta, { domains: true, members: true })
    expect(await (await world.browser('bob')).session()).toBeNull()
    const client = new Client(auth)
    await signIn(client, connection.providerId, { nameId: 'bob-1', attributes: { email: ['bob@beta.example'] } })
    expect((await client.session())?.user).toMatchObject({ name: 'bob' })
  })
})
