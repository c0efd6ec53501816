/** Tables of plugins' records: what `migrate` shows and does, what a missing table says, and that every query goes by an index. */
import { createKernel, type RecordSpec } from 'authkernel/kernel'
import { recordsPlugin } from 'authkernel/plugins/records'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { type SqlOptions, sqlRecords } from 'authkernel/plugins/sql'
import { type CompiledQuery, Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'
import { reachable } from './_servers.ts'
import { dialectOf, dropStore, newDatabase, type SqlSpec } from './_stores.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql') }

const member: RecordSpec<Record<string, unknown>> = {
  fields: {
    organizationId: { type: 'string', max: 64 },
    userId: { type: 'string', max: 64 },
    role: { type: 'string', max: 64, default: 'member' },
    joined: { type: 'date' },
    seen: { type: 'date', optional: true },
    until: { type: 'date', optional: true },
  },
  unique: [['organizationId', 'userId']],
  index: [['organizationId', 'joined'], ['organizationId', 'seen'], ['role']],
  owner: 'user',
  expires: 'until',
}

describe.each(['libsql', 'postgres', 'mysql'] as const)('%s', (kind) => {
  describe.skipIf(!there[kind])('tables of records', () => {
    let spec: SqlSpec
    const queries: CompiledQuery[] = []
    let db: Kysely<Record<string, Record<string, unknown>>>
    beforeAll(async () => {
      spec = await newDatabase(kind)
      db = new Kysely({ dialect: dialectOf(spec).dialect, log: ({ query }) => void queries.push(query as CompiledQuery) })
    })
    afterAll(async () => {
      await db.destroy()
      await dropStore(spec)
    })
    function make(specs: Record<string, RecordSpec<never>>, options: SqlOptions = {}) {
      const store = sqlRecords(db, options)
      const auth = createKernel(baseConfig())
        .use(jwtSessionPlugin())
        .use(recordsPlugin({ ...store, close: () => {} }))
        .use({
          name: 'p',
          setup(kernel) {
            for (const [name, one] of Object.entries(specs)) kernel.records(name, one as never)
            return { members: async () => (await kernel.contextOf({ job: 'test' })).records('member' as never) as never as Members }
          },
        })
      return { auth, store }
    }

    it('a missing table is told by `ready`, and by each call that needs it, with the command', async () => {
      const { auth } = make({ member: member as never })
      await expect(auth.ready()).rejects.toThrow(
        /lacks table auth_member, table auth_lease, table auth_access, table auth_parked_login .*npx authkernel migrate --apply/,
      )
      const members = await auth.members()
      await expect(members.get('x')).rejects.toMatchObject({
        cause: { err: { message: expect.stringMatching(/auth_member of the record "member" is missing.*npx authkernel migrate --apply/) } },
      })
    })

    it('the dry run shows what --apply does, and tables of the host stay as they are', async () => {
      await sql`create table accounts (id integer)`.execute(db)
      const { auth, store } = make({ member: member as never })
      await auth.ready().catch(() => {})
      const dry = await store.migrate()
      expect(dry.statements.filter((each) => /create table/.test(each))).toHaveLength(4)
      expect(dry.statements.every((each) => /auth_(member|lease|access|parked_login)/.test(each))).toBe(true)
      queries.length = 0
      expect(await store.migrate({ apply: true })).toEqual({ statements: dry.statements, notes: [], applied: true })
      expect(queries.map((query) => query.sql).filter((each) => /^(create|alter)/.test(each))).toEqual(dry.statements)
      await auth.ready()
      expect(await store.migrate()).toEqual({ statements: [], notes: [], applied: false })
    })

    it('every query goes by an index', async () => {
      const { auth } = make({ member: member as never })
      const members = await auth.members()
      const rows = [...Array(3_000).keys()].map((at) => ({
        organizationId: `o${at % 30}`,
        userId: `u${at}`,
        role: `r${at % 50}`,
        joined: new Date(at * 1000),
        seen: at % 3 === 0 ? null : new Date(at * 1000),
      }))
      for (let at = 0; at < rows.length; at += 500) await members.createMany(rows.slice(at, at + 500))
      await sql.raw(kind === 'mysql' ? 'analyze table auth_member' : 'analyze auth_member').execute(db)
      queries.length = 0
      const where = { organizationId: 'o7' }
      const page = await members.find({ where, limit: 5 })
      await members.find({ where, limit: 5, cursor: page.cursor })
      await members.find({ where, order: 'desc', range: { joined: { lt: new Date(1e9) } } })
      const nulls = await members.find({ where, range: { seen: {} }, limit: 5 })
      await members.find({ where, range: { seen: {} }, limit: 5, cursor: nulls.cursor })
      await members.find({ where, range: { seen: {} }, limit: 5, order: 'desc' })
      await members.find({ where: { role: 'r3' } })
      await members.find({ where: { userId: 'u7' } })
      await members.find({ limit: 5 })
      await members.get({ organizationId: 'o7', userId: 'u7' })
      await members.count(where)
      await members.update(page.rows[0]!.id, { role: 'x' })
      await members.take({ organizationId: 'o8', userId: 'u8' })
      await members.deleteWhere({ where: { organizationId: 'o9' }, range: { joined: { lt: new Date(1000) } } })
      const asked = queries.splice(0).filter((query) => /auth_member/.test(query.sql) && !/^(insert|begin|commit)/i.test(query.sql))
      expect(asked.length).toBeGreaterThanOrEqual(14)
      for (const query of asked) {
        const explain = kind === 'libsql' ? 'explain query plan ' : 'explain '
        const { rows: plan } = await db.executeQuery<Record<string, unknown>>({ ...query, sql: explain + query.sql })
        const text = JSON.stringify(plan)
        if (kind === 'postgres') {
          expect(text, query.sql).toMatch(/Index|Bitmap|Tid Scan/)
          expect(text, query.sql).not.toMatch(/Seq Scan/)
        } else if (kind === 'libsql') {
          expect(text, query.sql).toMatch(/USING (COVERING )?INDEX/)
          expect(text, query.sql).not.toMatch(/SCAN auth_member"|TEMP B-TREE/)
        } else
          expect(
            plan.filter((row) => row['table'] === 'auth_member').every((row) => row['key'] !== null && row['type'] !== 'ALL'),
            `${query.sql} ${text}`,
          ).toBe(true)
      }
    }, 60_000)

    it('what it cannot change by itself is a note', async () => {
      const wider: RecordSpec<Record<string, unknown>> = {
        ...member,
        fields: {
          ...member.fields,
          joined: { type: 'integer' },
          needed: { type: 'string' },
          tag: { type: 'string', max: 20, default: "it's \\ new" },
        },
        unique: [...member.unique!, ['role']],
      }
      const { auth, store } = make({ member: wider as never })
      await auth.ready().catch(() => {})
      const { statements, notes } = await store.migrate()
      expect(notes).toEqual([
        expect.stringContaining('the field "needed" is required'),
        expect.stringMatching(/auth_member\.joined is .*, and the field "joined" is now a integer/),
        expect.stringContaining('values of (ns, role) occur more than once'),
      ])
      expect(statements).toEqual([expect.stringContaining('add column')])
      await store.migrate({ apply: true })
      const { rows } = await sql<{ tag: string }>`select tag from auth_member limit 1`.execute(db)
      expect(rows[0]!.tag).toBe("it's \\ new")
    })

    it('names of the host, and tables at the first operation', async () => {
      const { auth } = make({ member: member as never }, { names: { records: { member: 'people_of' } }, migrate: true })
      await auth.ready()
      await (await auth.members()).createMany([{ organizationId: 'o', userId: 'u', joined: new Date(0) }])
      expect((await sql`select user_id from people_of`.execute(db)).rows).toEqual([{ user_id: 'u' }])
    })
  })
})

interface Members {
  get(key: string | object): Promise<unknown>
  find(options: object): Promise<{ rows: { id: string }[]; cursor: string | undefined }>
  count(where: object): Promise<number>
  createMany(rows: object[]): Promise<unknown>
  update(id: string, change: object): Promise<unknown>
  take(key: object): Promise<unknown>
  deleteWhere(options: object): Promise<number>
}
