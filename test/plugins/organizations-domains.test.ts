/** Domains of organizations: proved by DNS, checked again, and what their providers may say. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { HomeRealm, Plugin, ProviderFlow } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { baseConfig, Client } from '../_setup.ts'
import { type, world } from './_organizations.ts'

const day = 86_400_000
const sys = { system: true } as const

/** A DNS with TXT records; a string of one record in two parts. */
function zone() {
  const records = new Map<string, string[]>()
  let broken = false
  const resolveTxt = (name: string) => {
    if (broken) return Promise.reject(Object.assign(new Error('queryTxt ESERVFAIL'), { code: 'ESERVFAIL' }))
    const found = records.get(name)
    if (!found) return Promise.reject(Object.assign(new Error('queryTxt ENOTFOUND'), { code: 'ENOTFOUND' }))
    return Promise.resolve(found.map((text) => [text.slice(0, 10), text.slice(10)]))
  }
  return { records, resolveTxt, breaks: (yes = true) => void (broken = yes) }
}

/** What a sign-in page asks. */
function asker() {
  let find: (address: string) => Promise<unknown>
  const plugin: Plugin = {
    name: 'asker',
    setup(kernel) {
      find = async (address) => {
        const realm: HomeRealm = kernel.service('homeRealm')
        return realm.find(await kernel.contextOf(new Request('http://localhost:3000/auth/signin')), address)
      }
    },
  }
  return { plugin, find: (address: string) => find(address) }
}

async function made() {
  const [dns, realm] = [zone(), asker()]
  const of = await world('database', { domains: { resolveTxt: dns.resolveTxt } }, {}, [realm.plugin])
  const { domains } = of.auth.organizations
  const proved = async (id: string, domain: string) => {
    const { record, text } = await domains.claim(sys, id, domain)
    dns.records.set(record, ['v=spf1 -all', text])
    return domains.prove(sys, id, domain)
  }
  return { ...of, dns, domains, proved, find: realm.find }
}

describe('a domain', () => {
  it('is claimed, proved by a TXT record, and sends its people to a provider', async () => {
    const { dns, domains, found, find, told } = await made()
    const [ada, id] = [{ userId: 'ada' }, await found()]
    const claim = await domains.claim(ada, id, 'Acme.Example')
    expect(claim).toMatchObject({
      domain: 'acme.example',
      record: '_authkernel.acme.example',
      text: expect.stringMatching(/^authkernel-domain=[0-9a-f]{32}$/),
    })
    expect(await type(domains.prove(ada, id, 'acme.example'))).toBe('DomainUnproved')
    dns.records.set(claim.record, ['authkernel-domain=00'])
    expect(await type(domains.prove(ada, id, 'acme.example'))).toBe('DomainUnproved')
    dns.breaks()
    expect(await type(domains.prove(ada, id, 'acme.example'))).toBe(503)
    dns.breaks(false)
    dns.records.set(claim.record, ['other', claim.text])
    await domains.prove(ada, id, 'acme.example')
    expect(await type(domains.prove(ada, id, 'acme.example'))).toBe('OrganizationInput')
    expect(await find('x@acme.example')).toBeNull()
    expect(await type(domains.setProvider(ada, id, 'acme.example', 'nowhere'))).toBe('InvalidProvider')
    await domains.setProvider(ada, id, 'acme.example', 'credentials')
    expect(await domains.list(ada, id)).toMatchObject([{ domain: 'acme.example', provider: 'credentials' }])
    // By the domain alone: who exists does not matter.
    for (const address of ['x@acme.example', 'X@ACME.EXAMPLE', 'nobody@acme.example'])
      expect(await find(address)).toEqual({ provider: 'credentials' })
    for (const address of [
      'x@sub.acme.example',
      'x@acme.example.evil.example',
      'acme',
      '',
      '@',
      'x@[::1]',
      'x@\0',
      'x'.repeat(9999),
      7 as never,
    ])
      expect(await find(address)).toBeNull()
    expect(await domains.remove(ada, id, 'acme.example')).toBe(true)
    expect([await domains.remove(ada, id, 'acme.example'), await find('x@acme.example')]).toEqual([false, null])
    expect(told).toEqual(['created ada', 'domain.claimed ada', 'domain.proved ada', 'domain.provider ada', 'domain.removed ada'])
  })

  it('is no public suffix, no machine and no nonsense; and there are limits', async () => {
    const { domains, found } = await made()
    const id = await found()
    for (const bad of [
      'com',
      'co.uk',
      'github.io',
      'localhost',
      '127.0.0.1',
      '[::1]',
      'a_b.example',
      'a..b',
      '',
      'x/y.example',
      'user@acme.example',
      '-a.example',
    ])
      expect([bad, await type(domains.claim(sys, id, bad))]).toEqual([bad, 'OrganizationInput'])
    expect((await domains.claim(sys, id, 'bücher.example')).domain).toBe('xn--bcher-kva.example')
    for (let at = 0; at < 9; at++) await domains.claim(sys, id, `d${at}.example`)
    expect(await type(domains.claim(sys, id, 'one-more.example'))).toBe('OrganizationFull')
    expect(await type(domains.claim(sys, id, 'd1.example'))).toBe('done')
  })

  it('is of one organization: another takes it only when the record of the first is gone', async () => {
    const { dns, domains, found, proved, find } = await made()
    const [first, second] = [await found(), await found({}, 'bob')]
    await proved(first, 'acme.example')
    await domains.setProvider(sys, first, 'acme.example', 'credentials')
    const { record, text } = await domains.claim(sys, second, 'acme.example')
    const before = dns.records.get(record)!
    dns.records.set(record, [...before, text])
    expect(await type(domains.prove(sys, second, 'acme.example'))).toBe('DomainTaken')
    dns.breaks()
    expect(await type(domains.prove(sys, second, 'acme.example'))).toBe('DomainTaken')
    dns.breaks(false)
    dns.records.set(record, [text])
    await domains.prove(sys, second, 'acme.example')
    // What the first one had set is gone with its proof.
    expect([await domains.list(sys, first), await find('x@acme.example')]).toEqual([[], null])
    expect(await type(domains.setProvider(sys, first, 'acme.example', 'credentials'))).toBe('OrganizationInput')
  })

  it('of parallel proofs by two organizations, one gets it', async () => {
    const { dns, domains, found } = await made()
    const ids = [await found(), await found({}, 'bob')]
    const claims = await Promise.all(ids.map((id) => domains.claim(sys, id, 'acme.example')))
    dns.records.set(
      claims[0]!.record,
      claims.map(({ text }) => text),
    )
    const ends = await Promise.all(ids.map((id) => type(domains.prove(sys, id, 'acme.example'))))
    expect(ends.filter((end) => end === 'done')).toHaveLength(1)
  })

  it('is looked at every day: a record that is gone ends it, servers that do not answer do so after three days', async () => {
    const { dns, domains, found, proved, find, settle, runtime } = await made()
    const id = await found()
    await proved(id, 'acme.example')
    await domains.setProvider(sys, id, 'acme.example', 'credentials')
    runtime.advance(day)
    dns.breaks()
    expect([await find('x@acme.example'), await domains.sweep()]).toEqual([{ provider: 'credentials' }, 0])
    runtime.advance(2 * day)
    expect(await find('x@acme.example')).toBeNull()
    dns.breaks(false)
    expect([await domains.sweep(), await find('x@acme.example')]).toEqual([0, { provider: 'credentials' }])
    runtime.advance(day)
    dns.records.clear()
    // The page that asks does not wait, and looks again on the way.
    expect(await find('x@acme.example')).toEqual({ provider: 'credentials' })
    await settle()
    expect([await find('x@acme.example'), await domains.list(sys, id)]).toEqual([null, []])
  })
})

it('a provider that an organization brought speaks for its domains alone', async () => {
  const dns = zone()
  const flow: ProviderFlow<{ id: string }> = {
    async finish(ctx, { id }) {
      const { sub, email } = (await ctx.body()) as Record<string, string>
      const account = { provider: id, type: 'sso' as never, providerAccountId: sub! }
      return { user: { name: sub!, ...(email && { email }) }, account, match: 'account' }
    },
  }
  const sso: Plugin = {
    name: 'sso',
    setup(kernel) {
      kernel.providerType('sso' as never, flow as never)
      for (const id of ['sso-own', 'shared']) kernel.provider({ id, name: id, type: 'sso' } as never)
      kernel.provide('mailTransport', { send: () => {} })
    },
  }
  let owner = ''
  const store = memoryAdapter()
  const own = (id: string) => (id === 'sso-own' ? owner : undefined)
  const auth = createAuth(baseConfig())
    .use(adapterPlugin(store))
    .use(sso)
    .use(organizationsPlugin({ domains: { resolveTxt: dns.resolveTxt, own } }))
  await auth.ready({ warm: true })
  for (const id of ['ada', 'bob']) await store.createUser({ id, email: `${id}@example.com`, emailVerified: new Date(0) })
  const { organizations } = auth
  const { id } = await organizations.create({ userId: 'ada' }, { name: 'A' })
  owner = id
  const signIn = async (provider: string, sub: string, email: string) => {
    const client = new Client(auth)
    await client.post(`/callback/${provider}`, { sub, email })
    return (await client.session())?.user?.['email'] ?? null
  }
  expect(await signIn('sso-own', '1', 'x@acme.example')).toBeNull()
  const { record, text } = await organizations.domains.claim(sys, id, 'acme.example')
  dns.records.set(record, [text])
  await organizations.domains.prove(sys, id, 'acme.example')
  expect(await signIn('sso-own', '1', 'x@acme.example')).toBe('x@acme.example')
  for (const email of ['ada@example.com', 'x@acme.example.evil.example', 'x@sub.acme.example', '', 'a@b@acme.example', 'acme.example'])
    expect([email, await signIn('sso-own', `2 ${email}`, email)]).toEqual([email, null])
  expect(await signIn('shared', '3', 'y@elsewhere.example')).toBe('y@elsewhere.example')
  // Another organization does not get it as its provider, and a proof that is gone ends it.
  const other = await organizations.create({ userId: 'bob' }, { name: 'B' })
  const claim = await organizations.domains.claim(sys, other.id, 'other.example')
  dns.records.set(claim.record, [claim.text])
  await organizations.domains.prove(sys, other.id, 'other.example')
  expect(await type(organizations.domains.setProvider({ userId: 'bob' }, other.id, 'other.example', 'sso-own'))).toBe('OrganizationInput')
  expect(await type(organizations.domains.setProvider({ userId: 'ada' }, id, 'acme.example', 'sso-own'))).toBe('done')
  expect(await signIn('sso-own', '4', 'z@other.example')).toBeNull()
  await organizations.domains.remove(sys, id, 'acme.example')
  expect(await signIn('sso-own', '1', 'x@acme.example')).toBeNull()
})
