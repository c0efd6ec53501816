/** Sign-ins by identity providers that others wrote: providers of the options, and connections that are stored. */
import { describe, expect, it } from 'vitest'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { samlPlugin } from 'authkernel/plugins/saml'
import { makeCertificate, movedRuntime, ssoWorld, system } from '../plugins/_sso.ts'
import { Client } from '../_setup.ts'
import { answerByPysaml2, answerBySamlify, encryptByXmlsec1, hasPysaml2, metadataBySamlify } from './_counterparts.ts'
import { begin, connection, idpEntity, idpKeys, origin, otherKeys, postEncoded, samlHost, spKeys } from './_idp.ts'

/** A sign-in that stands at the identity provider; the clock is the real one, as theirs. */
async function beginAt(options: object) {
  const host = samlHost([connection('acme', options)])
  host.runtime.advance(Date.now() - host.runtime.now())
  const client = new Client(host.auth)
  const metadata = await (await client.get('/saml/acme/metadata')).text()
  const { url } = await begin(client)
  const finish = async (encoded: string): Promise<unknown[]> => {
    const answer = await postEncoded(client, encoded)
    return [answer.headers.get('location'), host.logger.errors.map(({ message }) => message)]
  }
  return { host, question: { url, metadata, nameId: 'ada-1', email: 'ada@acme.example' }, finish }
}
const inside = [`${origin}/inside`, []]

describe('samlify as identity provider', () => {
  it.each([
    ['a signed assertion', {}, {}],
    ['a signed response', {}, { signsMessage: true }],
    ['an encrypted assertion', { decryption: spKeys }, { encrypts: true }],
  ] as const)('%s signs in, and our metadata and signed request are understood', async (_, ours, theirs) => {
    const { host, question, finish } = await beginAt({ signing: spKeys, ...ours })
    expect(await finish(await answerBySamlify(question, theirs))).toEqual(inside)
    expect([...host.data.accounts.values()].map(({ providerAccountId }) => providerAccountId)).toEqual(['ada-1'])
  })
})

describe.skipIf(!hasPysaml2)('pysaml2 with xmlsec1 as identity provider', () => {
  it.each(['assertion', 'response', 'both', 'encrypted', 'xmlsec1'] as const)('%s', async (mode) => {
    const { host, question, finish } = await beginAt({ decryption: spKeys })
    const encoded = answerByPysaml2(question, mode === 'xmlsec1' ? 'assertion' : mode)
    const ended = await finish(mode === 'xmlsec1' ? encryptByXmlsec1(encoded) : encoded)
    if (mode === 'encrypted') {
      // It encrypts with Triple DES alone.
      expect(host.logger.errors).toMatchObject([{ type: 'SamlResponseRefused', cause: { check: 'encryption' } }])
      return
    }
    expect(ended).toEqual(inside)
    expect([...host.data.users.values()]).toMatchObject([{ email: 'ada@acme.example', name: 'Ada Łovelace <&> "x"' }])
  })
})

describe('a stored connection', () => {
  const tls = makeCertificate()
  /** Of an organization with the domain `acme.example`; keys for requests and for encrypted assertions are stored. */
  async function beginStored(settings: object) {
    const runtime = movedRuntime()
    const store = memoryAdapter(memoryData())
    const world = await ssoWorld(store, { cert: tls.cert, runtime, plugins: [samlPlugin()] })
    await store.createUser({ id: 'ann', email: 'ann@acme.example', name: 'Ann', emailVerified: new Date(0) })
    const acme = await world.company('Acme', 'ann', ['acme.example'])
    const stored = await world.auth.sso.create(system, acme, {
      type: 'saml',
      name: 'Acme',
      signing: spKeys,
      decryption: [spKeys],
      roles: { default: 'admin' },
      ...settings,
    } as never)
    const enter = async (answer: (question: { url: URL; metadata: string; nameId: string; email: string }) => string | Promise<string>) => {
      const client = new Client(world.auth)
      const metadata = await (await client.get(stored.metadataPath!)).text()
      const { url } = await begin(client, stored.providerId)
      await postEncoded(client, await answer({ url, metadata, nameId: 'ada-1', email: 'ada@acme.example' }), stored.providerId)
      return client
    }
    const lastSignIn = async () => (await world.auth.sso.signIns(system, stored.id)).signIns[0]
    return { ...world, acme, stored, enter, lastSignIn }
  }
  const byFields = { entityId: idpEntity, signInUrl: 'https://idp.example/sso', certificates: [idpKeys.certificate] }

  it('takes encrypted assertions of samlify, whose metadata made it, and makes its user a verified member', async () => {
    const { auth, acme, enter, store, lastSignIn } = await beginStored({ metadata: metadataBySamlify() })
    const client = await enter((question) => answerBySamlify(question, { encrypts: true }))
    expect((await client.session())?.user).toMatchObject({ email: 'ada@acme.example' })
    expect((await store.getUserByEmail('ada@acme.example'))?.emailVerified).toBeInstanceOf(Date)
    const { members } = await auth.organizations.members(system, acme)
    expect(members.find(({ email }) => email === 'ada@acme.example')?.role).toBe('admin')
    expect(await lastSignIn()).toMatchObject({ outcome: 'ok', email: 'ada@acme.example' })
  })

  it.skipIf(!hasPysaml2)('takes assertions of pysaml2 that xmlsec1 has encrypted, also while the key is changed', async () => {
    const { auth, stored, enter } = await beginStored(byFields)
    const answer = async (question: Parameters<Parameters<typeof enter>[0]>[0]) => encryptByXmlsec1(answerByPysaml2(question, 'assertion'))
    expect((await (await enter(answer)).session())?.user).toMatchObject({ email: 'ada@acme.example' })
    // The identity provider still encrypts with the former certificate.
    await auth.sso.update(system, stored.id, { decryption: [otherKeys, spKeys] })
    expect((await (await enter(answer)).session())?.user).toMatchObject({ email: 'ada@acme.example' })
  })

  it('without its key refuses the assertion, and its log says what to mend', async () => {
    const { auth, stored, enter, lastSignIn } = await beginStored({ ...byFields })
    await auth.sso.update(system, stored.id, { decryption: [otherKeys] })
    const byOldKey = (question: Parameters<Parameters<typeof enter>[0]>[0]) =>
      answerBySamlify(
        { ...question, metadata: question.metadata.replace(toBody(otherKeys.certificate), toBody(spKeys.certificate)) },
        { encrypts: true },
      )
    expect(await (await enter(byOldKey)).session()).toBeNull()
    expect(await lastSignIn()).toMatchObject({
      outcome: 'SamlResponseRefused',
      cause: 'encryption',
      reason: expect.stringContaining('Give the identity provider the certificate that our metadata shows for encryption.'),
    })
  })
})

function toBody(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s/g, '')
}
