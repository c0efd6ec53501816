/** SCIM on a database: what a search asks, large groups, and two processes at one user. */
import { Kysely, type LogEvent } from 'kysely'
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScimWorld, type ScimWorld } from '../plugins/_scim.ts'
import { reachable } from './_servers.ts'
import { dialectOf, dropStore, newDatabase, openSql, type SqlSpec } from './_stores.ts'

const kind = (await reachable('postgres')) ? 'postgres' : 'libsql'

describe(kind, () => {
  let spec: SqlSpec
  let queries: string[] = []
  let world: ScimWorld
  beforeAll(async () => {
    spec = await newDatabase(kind)
    const { dialect, pool } = dialectOf(spec)
    const db = new Kysely<never>({ dialect, log: ({ query }: LogEvent) => void queries.push(query.sql) })
    world = await createScimWorld({
      adapter: openSql({ db, pool } as never) as unknown as Adapter,
      options: { limit: { max: 100_000, seconds: 60 } },
    })
  }, 60_000)
  afterAll(async () => {
    await world?.auth.close()
    if (spec) await dropStore(spec)
  })

  const readsOf = async (work: () => Promise<unknown>): Promise<number> => {
    queries = []
    await work()
    return queries.filter((one) => one.includes('scim_user') || one.includes('scimUser')).length
  }

  it('a page is one query of users, by cursor and by each attribute with an index', async () => {
    const ids: string[] = []
    for (let at = 0; at < 30; at++) ids.push((await world.createUser(`user${at}`, { externalId: `e${at}` })).body.id)
    const { body } = await world.send('GET', '/Users?count=10&cursor=')
    expect(await readsOf(() => world.send('GET', '/Users?count=10&cursor='))).toBe(1)
    expect(await readsOf(() => world.send('GET', `/Users?count=10&cursor=${body.nextCursor}`))).toBe(1)
    const byEmail = ['emails eq', 'emails.value eq', 'emails[type eq "work"].value eq'].map((path) => `${path} "User3@acme.example"`)
    const inBrackets = 'emails[type eq "work" and value eq "user3@acme.example"]'
    for (const filter of ['userName eq "user3@acme.example"', 'externalId eq "e4"', `id eq "${ids[5]}"`])
      expect([filter, await readsOf(() => world.send('GET', `/Users?filter=${encodeURIComponent(filter)}`))]).toEqual([filter, 1])
    // The second one is of the index of further emails.
    for (const filter of [...byEmail, inBrackets])
      expect([filter, await readsOf(() => world.send('GET', `/Users?filter=${encodeURIComponent(filter)}`))]).toEqual([filter, 2])
    expect((await world.send('GET', `/Users?filter=${encodeURIComponent(inBrackets)}`)).body.Resources).toMatchObject([{ id: ids[3] }])
  }, 60_000)

  it('a member of a large group is added and removed by as many queries as of a small one', async () => {
    const { send, patch } = world
    const users = (await send('GET', '/Users?count=200')).body.Resources.map(({ id }: { id: string }) => id) as string[]
    const [last = '', ...others] = users
    const counts: number[] = []
    for (const members of [others.slice(0, 1), others]) {
      const { id } = (
        await send('POST', '/Groups', { displayName: `Group of ${members.length}`, members: members.map((value) => ({ value })) })
      ).body
      queries = []
      expect((await patch(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value: last }] })).status).toBe(204)
      expect((await patch(`/Groups/${id}`, { op: 'remove', path: `members[value eq "${last}"]` })).status).toBe(204)
      counts.push(queries.length)
      expect((await send('GET', `/Groups/${id}`)).body.members).toHaveLength(members.length)
    }
    expect(counts[1]).toBe(counts[0])
  }, 60_000)

  it('members that come in one operation each cost as many queries as in one operation', async () => {
    const { send, patch } = world
    const users = (await send('GET', '/Users?count=20')).body.Resources.map(({ id }: { id: string }) => id) as string[]
    const counts: number[] = []
    for (const perOperation of [users.length, 1]) {
      const { id } = (await send('POST', '/Groups', { displayName: `By ${perOperation}` })).body
      const lists = Array.from({ length: users.length / perOperation }, (_, at) => users.slice(at * perOperation, (at + 1) * perOperation))
      queries = []
      await patch(`/Groups/${id}`, ...lists.map((list) => ({ op: 'add', path: 'members', value: list.map((value) => ({ value })) })))
      counts.push(queries.length)
      expect((await send('GET', `/Groups/${id}`)).body.members).toHaveLength(users.length)
    }
    expect(counts[1]).toBe(counts[0])
  }, 60_000)

  it('of 8 requests that create one user at once one wins; of 8 that change it none is lost', async () => {
    const { send, patch, createUser } = world
    const answers = await Promise.all(Array.from({ length: 8 }, () => createUser('ann')))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7)
    const { id } = answers.find(({ status }) => status === 201)!.body
    const changes = await Promise.all(
      ['nickName', 'title', 'locale', 'timezone'].map((path) => patch(`/Users/${id}`, { op: 'replace', path, value: path })),
    )
    const done = changes.flatMap(({ status }, at) => (status === 200 ? [['nickName', 'title', 'locale', 'timezone'][at]!] : []))
    const { body } = await send('GET', `/Users/${id}`)
    for (const name of done) expect(body[name]).toBe(name)
    expect(done.length).toBeGreaterThan(0)
    expect(changes.every(({ status }) => status === 200 || status === 412)).toBe(true)
  }, 60_000)

  it('a sign-in that races with `active: false` leaves nothing that is alive', async () => {
    const { patch, createUser, signIn, isSignedIn } = world
    const { id } = (await createUser('eve')).body
    for (let round = 0; round < 4; round++) {
      const [browsers] = await Promise.all([
        Promise.all([0, 1, 2].map(() => signIn('eve@acme.example'))),
        patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
      ])
      for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false)
      await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })
    }
  }, 60_000)
})
