/** Published adapters of Auth.js, unmodified: journeys with both strategies, and our adapter on their databases. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useOp } from '../_op/journey.ts'
import { gapsList, publishedTable, readPart } from './_docs.ts'
import { createHost, createPerson, testJourneys } from './_journeys.ts'
import { installed, published, versionOf } from './_published.ts'
import { reachable } from './_servers.ts'
import { openDatabase, openSql } from './_stores.ts'

const postgres = await reachable('postgres')
const ready = installed()

describe.each(published.map((each) => [`${each.package} on ${each.store}`, each] as const))('%s', (name, each) => {
  describe.skipIf(!ready || (each.store === 'PostgreSQL' && !postgres))(ready ? versionOf(each.package) : 'not installed', () => {
    const op = useOp()
    let open: Awaited<ReturnType<typeof each.open>>
    beforeAll(async () => {
      open = await each.open()
    })
    afterAll(() => open?.close())

    testJourneys(name, () => open.adapter)
    it.each(each.store === 'memory' ? [] : ['sessions go on, and people are who they were'])(
      'its database, opened by sqlAdapter: %s',
      async () => {
        const ada = createPerson()
        const before = createHost(open.adapter, op(), 'database')
        const browser = before.client()
        await before.signIn(browser, ada)
        const { expires, ...session } = (await browser.session())!
        const { id } = (await open.adapter.getUserByEmail!(ada.email))!

        const adapter = openSql(openDatabase(open.spec!), { migrate: false })
        const after = createHost(adapter, op(), 'database')
        const same = after.client()
        for (const [key, value] of browser.cookies) same.cookies.set(key, value)
        expect(await same.session()).toEqual({ ...session, expires: expect.any(String) })
        expect(Math.abs(Date.parse((await same.session())!.expires) - Date.parse(expires))).toBeLessThan(1_000)
        const other = after.client()
        expect(await after.signIn(other, ada)).toMatch(/3000\/?$/)
        expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: ada.id })).toMatchObject({
          id: String(id),
          email: ada.email,
        })
        await after.signOut(same)
        expect(await browser.session()).toBeNull()
        expect(after.errors).toEqual([])
        await adapter.close()
      },
    )
  })
})

describe('docs/adapters.md', () => {
  it('lists the published adapters with their versions and gaps: AUTHKERNEL_WRITE_DOCS=1 in the full tier', () => {
    expect(readPart('published')).toBe(publishedTable())
    expect(readPart('gaps')).toBe(gapsList())
  })
})
