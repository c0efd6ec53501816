/** Company sign-in on a database: the queries of a sign-in page with 10,000 connections, and two processes at one user. */
import { Kysely, type LogEvent } from 'kysely'
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { companyIdp, makeCertificate, origin, type SsoWorld, ssoWorld, system } from '../plugins/_sso.ts'
import type { RealOp } from '../_op/real.ts'
import { Client } from '../_setup.ts'
import { type PortalApi, portalPlugin } from 'authkernel/plugins/portal'
import { reachable } from './_servers.ts'
import { dialectOf, dropStore, newDatabase, openSql, openStore, type SqlSpec } from './_stores.ts'

const tls = makeCertificate()
const kind = (await reachable('postgres')) ? 'postgres' : 'libsql'

describe(kind, () => {
  let op: RealOp & { redirects: string[] }
  let spec: SqlSpec
  let queries: string[] = []
  let here: SsoWorld
  let there: SsoWorld
  let acme: string
  let providerId: string
  beforeAll(async () => {
    const people = Object.fromEntries(['amy', 'ben', 'kim'].map((id) => [id, { name: id, email: `${id}@acme.example` }]))
    op = await companyIdp(tls, people)
    spec = await newDatabase(kind)
    const { dialect, pool } = dialectOf(spec)
    const db = new Kysely<never>({ dialect, log: ({ query }: LogEvent) => void queries.push(query.sql) })
    here = await ssoWorld(openSql({ db, pool } as never) as unknown as Required<Adapter>, {
      cert: tls.cert,
      plugins: [portalPlugin()],
    })
    there = await ssoWorld(openStore(spec) as Required<Adapter>, { cert: tls.cert, plugins: [portalPlugin()] })
    const { id: owner } = await here.store.createUser({ id: 'ada', email: 'ada@acme.example', name: 'Ada', emailVerified: new Date(0) })
    acme = await here.company('Acme', owner, ['acme.example'])
    const connection = await here.auth.sso.create(system, acme, {
      name: 'Acme ID',
      issuer: op.issuer,
      clientId: 'app',
      clientSecret: 'the-secret-of-the-client',
    })
    providerId = connection.providerId
    op.redirects.push(`${origin}/auth${connection.callbackPath}`)
  }, 60_000)
  afterAll(async () => {
    await here?.auth.close()
    await there?.auth.close()
    await op?.stop()
    if (spec) await dropStore(spec)
  })

  /** Queries of drawing the page, and of what follows the address. */
  async function countQueries(): Promise<[page: number, identifier: number]> {
    const client = new Client(here.auth)
    await client.csrfToken()
    const count = async (work: () => Promise<Response>): Promise<number> => {
      queries = []
      await work()
      return queries.length
    }
    const page = await count(() => client.get('/signin'))
    return [page, await count(() => client.post('/identifier', { identifier: 'amy@acme.example' }))]
  }

  it('a sign-in page with 10,000 connections asks as often as with one', async () => {
    await countQueries()
    const before = await countQueries()
    await here.fillConnections(10_000)
    expect(await countQueries()).toEqual(before)
    const [page, identifier] = before
    expect(page).toBeLessThanOrEqual(1)
    expect(identifier).toBeLessThanOrEqual(5)
  }, 60_000)

  it('one answer signs in at one of two processes', async () => {
    const client = new Client(here.auth)
    const started = await client.post(`/signin/${providerId}`)
    const url = await op.visit(started.headers.get('location') ?? '', { login: 'amy' })
    const copy = new Client(there.auth)
    for (const [name, value] of client.cookies) copy.cookies.set(name, value)
    await Promise.all([client.get(url), copy.get(url)])
    const sessions = [await client.session(), await copy.session()]
    expect(sessions.filter((session) => session !== null)).toHaveLength(1)
  })

  it('a user who signs in twice at the same moment is one user and one member', async () => {
    const visits = await Promise.all(
      [here, there].map(async ({ auth }) => {
        const client = new Client(auth)
        const started = await client.post(`/signin/${providerId}`)
        return { client, url: await op.visit(started.headers.get('location') ?? '', { login: 'ben' }) }
      }),
    )
    await Promise.all(visits.map(({ client, url }) => client.get(url)))
    const ids = await Promise.all(visits.map(async ({ client }) => (await client.session())?.user?.['email']))
    expect(ids).toEqual(['ben@acme.example', 'ben@acme.example'])
    const { members } = await here.auth.organizations.members(system, acme)
    expect(members.filter(({ email }) => email === 'ben@acme.example')).toHaveLength(1)
  })

  it('one of twenty browsers at two processes opens a link of the portal, and its revocation holds at both', async () => {
    const { portal } = here.auth as unknown as PortalApi
    const { url, id } = await portal.createLink({ ...system, base: `${origin}/auth` }, acme, { email: 'it@acme.example' })
    const clients = Array.from({ length: 20 }, (_, at) => new Client(at % 2 === 0 ? here.auth : there.auth))
    await Promise.all(
      clients.map(async (client) => {
        await client.get(url)
        await client.post('/portal/open')
      }),
    )
    const winners: Client[] = []
    for (const client of clients) if ((await client.get('/portal')).status === 200) winners.push(client)
    expect(winners).toHaveLength(1)
    expect(await (there.auth as unknown as PortalApi).portal.revokeLink(system, acme, id)).toBe(true)
    expect((await winners[0]!.get('/portal')).status).toBe(403)
  })

  it('a sign-in by another method that is under way at another process gives no session once the policy holds', async () => {
    const slow = there.browser('ada')
    const [client] = await Promise.all([slow, here.auth.sso.setPolicy(system, acme, { domains: true, members: true })])
    // Either it came first and was ended, or it came later and was refused.
    expect(await client.session()).toBeNull()
    expect(await (await there.browser('ada')).session()).toBeNull()
  })
})
