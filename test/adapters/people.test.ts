/** Guests and organizations between four processes, what a ban and a removal end, and an organization of 10,000 members. */
import { sampleStores } from '../_tier.ts'
import type { Adapter } from 'authkernel/kernel'
import { type CompiledQuery, Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { expectRightsToEnd } from './_ended.ts'
import { peopleHost, type PeopleTask } from './_people.ts'
import { reachable } from './_servers.ts'
import { dialectOf, dropStore, newDatabase, newStore, openSql, openStore, type SqlSpec, type StoreSpec } from './_stores.ts'
import { startWorkers, type Worker } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const kinds = ['libsql', 'postgres', 'mysql', 'redis'] as const

describe.each(sampleStores(kinds))('%s, four processes', (kind) => {
  describe.skipIf(!there[kind])('with a server', () => {
    let spec: StoreSpec
    let adapter: Required<Adapter>
    let auth: ReturnType<typeof peopleHost>
    let workers: Worker[] = []
    beforeAll(async () => {
      spec = kind === 'redis' ? newStore('redis') : await newDatabase(kind)
      adapter = openStore(spec) as Required<Adapter>
      auth = peopleHost(adapter)
      await auth.ready()
      for (const id of ['ada', 'bob', 'cy', 'dan', 'eve'])
        await adapter.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
      workers = await startWorkers(4, spec)
    }, 60_000)
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.kill()))
      await auth?.close()
      if (spec) await dropStore(spec)
    })
    type Act<T = PeopleTask> = T extends unknown ? Omit<T, 'do'> : never
    const all = async (tasks: readonly Act[]): Promise<unknown[]> => {
      const answers = await Promise.all(
        workers.map((worker, at) => worker.ask({ do: 'people', ...tasks[at % tasks.length]! } as PeopleTask)),
      )
      expect(answers.flatMap(({ rejected }) => rejected)).toEqual([])
      return answers.flatMap(({ fulfilled }) => fulfilled)
    }
    const signedIn = async (user?: string) => {
      const client = new Client(auth)
      if (user === undefined) await client.post('/guest')
      else await client.post('/callback/credentials', { user })
      return client
    }

    it('a removal ends the keys for the organization, and a ban everything', () => expectRightsToEnd(adapter))

    it('an invitation is accepted once', async () => {
      const { id } = await auth.organizations.create({ userId: 'ada' }, { name: 'A' })
      await auth.organizations.invite({ userId: 'ada' }, id, { email: 'bob@example.com', role: 'admin' })
      await expect.poll(() => auth.inside.mails.length).toBe(1)
      const token = /token=([0-9a-f]{64})/.exec(auth.inside.mails[0]!.text)![1]!
      const ends = await all([{ act: 'accept', times: 5, token, cookie: (await signedIn('bob')).cookieHeader() }])
      expect(ends.filter((end) => end === 'done')).toHaveLength(1)
      for (const end of ends) expect(['done', 'InvitationInvalid', 'AlreadyMember']).toContain(end)
      expect((await auth.organizations.members({ userId: 'ada' }, id)).members).toHaveLength(2)
    })

    it('the last owner stays, even if others leave and demote at the same moment', async () => {
      const system = { system: true } as const
      for (let round = 0; round < 3; round++) {
        const { id: organization } = await auth.organizations.create({ userId: 'cy' }, { name: 'C' })
        for (const user of ['bob', 'dan', 'eve']) await auth.organizations.add(system, organization, user, 'owner')
        const ends = await all(
          round === 0
            ? ['bob', 'cy', 'dan', 'eve'].map((userId) => ({ act: 'leave', times: 1, userId, organization }) as const)
            : [
                { act: 'demote', times: 2, userId: 'cy', other: 'bob', organization },
                { act: 'demote', times: 2, userId: 'bob', other: 'cy', organization },
                { act: 'leave', times: 1, userId: 'dan', organization },
                { act: 'leave', times: 1, userId: 'eve', organization },
              ],
        )
        for (const end of ends) expect(['done', 'LastOwner', 'OrganizationDenied', 'NoSuchOrganization', 'OrganizationBusy']).toContain(end)
        const { members } = await auth.organizations.members(system, organization, { role: 'owner' })
        expect(members).toHaveLength(1)
        await auth.organizations.delete(system, organization)
      }
    }, 60_000)

    it('of owners who are deleted at the same moment one stays', async () => {
      const system = { system: true } as const
      for (let round = 0; round < 2; round++) {
        const ids = ['o1', 'o2', 'o3', 'o4'].map((id) => `${id}${round}`)
        for (const id of ids) await adapter.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
        const { id: organization } = await auth.organizations.create({ userId: ids[0]! }, { name: 'O' })
        for (const id of ids.slice(1)) await auth.organizations.add(system, organization, id, 'owner')
        const ends = await all(ids.map((userId) => ({ act: 'deleteUser', times: 1, userId }) as const))
        expect(ends.toSorted()).toEqual(['LastOwner', 'done', 'done', 'done'])
        const { members } = await auth.organizations.members(system, organization)
        expect(members.map(({ role }) => role)).toEqual(['owner'])
        expect(await adapter.getUser(members[0]!.userId)).not.toBeNull()
      }
    }, 60_000)

    it('of keys that are made while the membership is suspended none is left', async () => {
      const { id: organization } = await auth.organizations.create({ userId: 'ada' }, { name: 'K' })
      for (let round = 0; round < 3; round++) {
        const userId = `k${round}`
        await adapter.createUser({ id: userId, email: `${userId}@example.com`, name: userId, emailVerified: new Date(0) })
        await auth.organizations.add({ system: true }, organization, userId)
        const make = { act: 'createKey', times: 4, userId, organization } as const
        const ends = await all([make, make, make, { act: 'suspend', times: 1, userId, organization }])
        // No member: the membership was suspended before it was read.
        for (const end of ends) expect(['done', 'AccessEnded', 'Error: The owner is no member of this organization.']).toContain(end)
        expect(await auth.inside.keys(userId)).toBe(0)
      }
    })

    it('the limit of members holds', async () => {
      const { id: organization } = await auth.organizations.create({ userId: 'dan' }, { name: 'D' })
      const userIds = ['ada', 'bob', 'cy', 'eve']
      const ends = await all([{ act: 'join', times: 4, userIds, organization }])
      expect(ends.filter((end) => end === 'done')).toHaveLength(4)
      expect((await auth.organizations.members({ userId: 'dan' }, organization)).members).toHaveLength(5)
    })

    it('what a guest has goes to one of those who sign in', async () => {
      for (let round = 0; round < 3; round++) {
        const guest = await signedIn()
        const csrfToken = await guest.csrfToken()
        const cookie = guest.cookieHeader()
        const handed = await all(['ada', 'bob', 'cy', 'dan'].map((user) => ({ act: 'signIn', times: 2, cookie, csrfToken, user }) as const))
        expect(handed.reduce<number>((sum, count) => sum + Number(count), 0)).toBe(1)
      }
    })
  })
})

describe.each(['libsql', 'postgres', 'mysql'] as const)('%s, 10,000 members', (kind) => {
  describe.skipIf(!there[kind])('with a server', () => {
    let spec: SqlSpec
    let db: Kysely<Record<string, Record<string, unknown>>>
    let auth: ReturnType<typeof peopleHost>
    let organization = ''
    let queries: CompiledQuery[] = []
    beforeAll(async () => {
      spec = await newDatabase(kind)
      const { dialect, pool } = dialectOf(spec)
      db = new Kysely({ dialect, log: ({ query }) => void queries.push(query as CompiledQuery) })
      const adapter = openSql({ db, pool }) as unknown as Required<Adapter>
      auth = peopleHost(adapter)
      await auth.ready()
      for (const id of ['ada', 'u7', 'u9999', 'x'])
        await adapter.createUser({ id, email: `${id}@example.com`, name: id.toUpperCase(), emailVerified: new Date(0) })
      ;({ id: organization } = await auth.organizations.create({ userId: 'ada' }, { name: 'Large' }))
      const members = await auth.inside.members()
      const rows = [...Array(10_000).keys()].map((at) => ({
        organizationId: organization,
        userId: `u${at}`,
        role: at % 100 === 0 ? 'admin' : 'member',
        joined: new Date(at * 1000),
      }))
      for (let at = 0; at < rows.length; at += 500) await members.createMany(rows.slice(at, at + 500))
      await sql.raw(kind === 'mysql' ? 'analyze table auth_organization_member' : 'analyze auth_organization_member').execute(db)
    }, 120_000)
    afterAll(async () => {
      await auth?.close()
      if (spec) await dropStore(spec)
    })

    /** Whether each query found its rows by an index. */
    async function byIndex(asked: readonly CompiledQuery[]): Promise<void> {
      for (const query of asked) {
        const explain = kind === 'libsql' ? 'explain query plan ' : 'explain '
        const { rows: plan } = await db.executeQuery<Record<string, unknown>>({ ...query, sql: explain + query.sql })
        const text = JSON.stringify(plan)
        if (kind === 'postgres') expect(text, query.sql).not.toMatch(/Seq Scan/)
        else if (kind === 'libsql') expect(text, query.sql).toMatch(/USING (COVERING )?INDEX/)
        else
          expect(
            plan.filter((row) => row['table'] === 'auth_organization_member').every((row) => row['key'] !== null && row['type'] !== 'ALL'),
            `${query.sql} ${text}`,
          ).toBe(true)
      }
    }
    const asked = () => queries.splice(0).filter(({ sql: text }) => /auth_organization/.test(text))

    it('a permission is one query, by an index', async () => {
      const session = { user: { id: 'u9999' }, expires: '' }
      queries = []
      expect(await auth.can(session, 'project:update', { organization })).toBe(true)
      expect(queries).toHaveLength(1)
      await byIndex(asked())
      expect(await auth.can({ ...session, user: { id: 'x' } }, 'project:update', { organization })).toBe(false)
      expect(await auth.can(session, 'member:role', { organization })).toBe(false)
      const began = performance.now()
      for (let at = 0; at < 200; at++) await auth.can(session, 'project:update', { organization })
      console.info(`${kind}: ${((performance.now() - began) / 200).toFixed(2)} ms a permission among 10,000 members`)
    })

    it('pages of members, a change of role and a departure go by indexes', async () => {
      queries = []
      const first = await auth.organizations.members({ userId: 'ada' }, organization, { limit: 50 })
      await auth.organizations.members({ userId: 'ada' }, organization, { limit: 50, cursor: first.cursor })
      // Names come from the users, all of a page at once.
      expect(first.members.find(({ userId }) => userId === 'u7')).toMatchObject({ name: 'U7', email: 'u7@example.com' })
      expect(queries.filter(({ sql: text }) => /from .?users/.test(text)).length).toBeLessThanOrEqual(4)
      expect((await auth.organizations.members({ userId: 'ada' }, organization, { role: 'admin', limit: 200 })).members).toHaveLength(100)
      await auth.organizations.setRole({ userId: 'ada' }, organization, 'u7', 'admin')
      await auth.organizations.remove({ userId: 'ada' }, organization, 'u9999')
      await auth.organizations.list({ userId: 'u7' })
      await byIndex(asked().filter(({ sql: text }) => /^select/i.test(text)))
    })

    it('is deleted with all of them', async () => {
      await auth.organizations.delete({ userId: 'ada' }, organization)
      expect(await (await auth.inside.members()).count({ organizationId: organization })).toBe(0)
    }, 60_000)
  })
})
