/** Domains of organizations by a real DNS: a server on loopback, asked by the resolver of Node. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NameServer, nameServer } from './_dns.ts'
import { type, world } from './_organizations.ts'

const sys = { system: true } as const
const day = 86_400_000
let dns: NameServer
beforeAll(async () => {
  dns = await nameServer()
})
afterAll(() => dns.close())

it('a domain is proved by its TXT record, lapses without it, and survives servers that do not answer', async () => {
  const { auth, found, runtime } = await world('database', { domains: { isPublicSuffix: (domain) => domain === 'co.test' } })
  const { domains } = auth.organizations
  const id = await found()
  const { record, text } = await domains.claim(sys, id, 'Acme.Test')
  expect(record).toBe('_authkernel.acme.test')
  expect(await type(domains.prove(sys, id, 'acme.test'))).toBe('DomainUnproved')
  dns.records.set(record, ['v=spf1 -all', text.replace('=', '= ')])
  expect(await type(domains.prove(sys, id, 'acme.test'))).toBe('DomainUnproved')
  dns.records.set(record, ['v=spf1 -all', text])
  expect(await domains.claims(sys, id)).toMatchObject([{ domain: 'acme.test', record, text }])
  expect(await domains.prove(sys, id, 'acme.test')).toMatchObject({ domain: 'acme.test' })
  expect(await domains.claims(sys, id)).toEqual([])
  expect(dns.asked.every((name) => name === '_authkernel.acme.test')).toBe(true)

  runtime.advance(day)
  dns.breaks()
  expect(await domains.sweep()).toBe(0)
  expect(await domains.list(sys, id)).toHaveLength(1)
  dns.breaks(false)
  dns.records.delete(record)
  expect(await domains.sweep()).toBe(1)
  expect(await domains.list(sys, id)).toEqual([])
})
