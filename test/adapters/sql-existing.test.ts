/** sqlAdapter on databases that Auth.js made: as they are, and after `migrate`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { newAccount, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import { baseConfig } from '../_setup.ts'
import { makeDatabase, schemas } from './_schemas.ts'
import { reachable } from './_servers.ts'
import { dropStore, openDatabase, openSql, type SqlSpec } from './_stores.ts'

const server = { postgres: await reachable('postgres'), mysql: await reachable('mysql'), libsql: true }

describe.each(schemas.map((schema) => [schema.name, schema] as const))('%s', (_name, schema) => {
  describe.skipIf(!server[schema.kind])('a database of that schema', () => {
    let spec: SqlSpec
    beforeAll(async () => {
      spec = await makeDatabase(schema)
    })
    afterAll(() => dropStore(spec))

    it('works as it is, with nothing made in it', async () => {
      const adapter = openSql(openDatabase(spec), { migrate: false })
      const { userId: _none, ...account } = newAccount('')
      const user = await adapter.createUserWithAccount(newUser({ emailVerified: new Date('2026-03-29T01:30:00.123Z') }), account)
      expect(await adapter.getUserByEmail(user.email)).toMatchObject({ id: user.id, emailVerified: user.emailVerified })
      expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: account.providerAccountId as string })).toMatchObject({
        id: user.id,
      })
      expect(await adapter.getAccount(account.providerAccountId as string, 'acme')).toMatchObject({ ...account, userId: user.id })
      // No user has an id that its column could not hold, or that is written in another way.
      for (const id of ['99999999999', `0${user.id}`, 'nobody', '']) {
        expect(await adapter.getUser(id)).toBeNull()
        expect(await adapter.deleteUser(id)).toBeNull()
        expect(await adapter.listSessionsByUserId(id)).toEqual([])
      }
      const session = newSession(user.id)
      await adapter.createSession(session)
      expect(await adapter.getSessionAndUser(session.sessionToken)).toMatchObject({ session, user: { id: user.id } })
      const token = newToken()
      await adapter.createVerificationToken(token)
      expect(await adapter.useVerificationToken(token)).toMatchObject(token)
      expect(await adapter.useVerificationToken(token)).toBeNull()
      // No constraint keeps some of these schemas from two users: the adapter does.
      const { userId: _nobody, ...racing } = newAccount('')
      const twin = newUser()
      const first = await Promise.allSettled(
        [...Array(6).keys()].map(() => adapter.createUserWithAccount({ ...twin, id: crypto.randomUUID() }, racing)),
      )
      expect(first.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await adapter.once.take('a', 60)).toBe(true)
      expect(await adapter.once.take('a', 60)).toBe(false)
      await adapter.deleteUser(user.id)
      expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
      expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: account.providerAccountId as string })).toBeNull()
      await adapter.close()
    })

    it('migrate adds what is missing, drops nothing, and has nothing to do the second time', async () => {
      const adapter = openSql(openDatabase(spec), { migrate: false })
      const plan = await adapter.migrate()
      expect(plan).toMatchObject({ applied: false, notes: [] })
      expect(await adapter.migrate()).toEqual(plan)
      expect(plan.statements.length).toBeGreaterThan(0)
      expect(plan.statements.join('\n')).not.toMatch(/\bdrop\b|\bdelete from\b|\btruncate\b/i)
      expect((await adapter.migrate({ apply: true })).statements).toEqual(plan.statements)
      expect(await adapter.migrate()).toEqual({ applied: false, notes: [], statements: [] })
      await adapter.close()
    })

    it('start-up says when a plugin needs users without an address and the column takes none', async () => {
      const adapter = openSql(openDatabase(spec), { migrate: true })
      const plugin = { name: 'nameless', requires: ['store:nullableEmail'], setup() {} } as const
      const asked = createAuth(baseConfig({ session: { strategy: 'jwt' }, providers: [] }))
        .use(adapterPlugin(adapter))
        .use(plugin)
        .ready()
      if (/kysely|prisma-adapter on PostgreSQL/.test(schema.name))
        await expect(asked).rejects.toThrow(/lacks .*\.email that may be NULL \(change the column by a custom migration\)\.$/)
      else await asked
    })
  })
})
