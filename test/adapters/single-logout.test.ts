/** What a logout token of a provider costs in a database: three statements, whatever the number of sessions. */
import { sampleStores } from '../_tier.ts'
import { Kysely, type LogEvent, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Auth } from 'authkernel/kernel'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { createAuth } from 'authkernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin, type ProviderTokensApi } from 'authkernel/plugins/provider-tokens'
import { type Jwk, jws, keys } from '../_op/keys.ts'
import { useOp } from '../_op/journey.ts'
import { Client, locationOf } from '../_client.ts'
import { reachable } from './_servers.ts'
import { dialectOf, dropStore, newDatabase, openSql, type SqlSpec } from './_stores.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql') }
const many = 10_500

describe.each(sampleStores(['postgres', 'libsql', 'mysql'] as const))('%s', (kind) => {
  describe.skipIf(!there[kind])('with a server', () => {
    const op = useOp()
    let spec: SqlSpec
    let adapter: ReturnType<typeof openSql>
    let db: Kysely<never>
    let queries: LogEvent['query'][] = []
    beforeAll(async () => {
      spec = await newDatabase(kind)
      const { dialect, pool } = dialectOf(spec)
      db = new Kysely<never>({ dialect, log: ({ query }) => void queries.push(query) })
      adapter = openSql({ db, pool } as never)
      await adapter.getUser('1')
    })
    afterAll(async () => {
      await adapter.close()
      await dropStore(spec)
    })

    function site(strategy: 'jwt' | 'database', tokens = false): Auth {
      const { issuer, clientId, clientSecret } = op()
      const auth = createAuth({
        secret: 'the-secret-of-the-instance-has-40-letters',
        trustHost: true,
        env: false,
        adapter,
        session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
        logger: {
          error(error) {
            throw error
          },
          warn() {},
        },
      })
        .use(oidcPlugin({ id: 'acme', issuer, clientId, clientSecret }))
        .use(singleLogoutPlugin())
      if (tokens) auth.use(providerTokensPlugin())
      return auth
    }
    async function signIn(auth: Auth, sub: string, sid: string): Promise<Client> {
      op().reset({ claims: (own) => ({ ...own, sub, sid, email: `${sub}@example.com` }) })
      const browser = new Client(auth)
      await browser.get(await op().authorize(locationOf(await browser.signIn('acme'))))
      expect(await browser.session()).not.toBeNull()
      return browser
    }
    async function push(auth: Auth, change: Jwk): Promise<string[]> {
      const now = Math.floor(Date.now() / 1000)
      const { alg, kid } = keys.k1
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
      const claims = { iss: op().issuer, aud: op().clientId, iat: now, exp: now + 120, jti: crypto.randomUUID(), events, ...change }
      const body = new URLSearchParams({ logout_token: jws({ alg, kid, typ: 'logout+jwt' }, claims, keys.k1) })
      queries = []
      const answer = await auth.handler(new Request('http://localhost:3000/auth/backchannel-logout/acme', { method: 'POST', body }))
      expect(answer.status).toBe(200)
      return queries.map((query) => query.sql).filter((text) => !/^(begin|commit|start transaction|set )/i.test(text))
    }

    it.each([
      ['database', 4],
      ['jwt', 4],
    ] as const)('%s sessions: a logout by `sid` and one by `sub` take %d statements', async (strategy, budget) => {
      const auth = site(strategy)
      const sub = `alice-${strategy}`
      const browsers = [await signIn(auth, sub, `${sub}-1`), await signIn(auth, sub, `${sub}-2`), await signIn(auth, sub, `${sub}-3`)]
      const one = await push(auth, { sid: `${sub}-1`, sub })
      // Else the log was not asked.
      expect(one.length).toBeGreaterThan(0)
      expect(one.length, one.join('\n')).toBeLessThanOrEqual(budget)
      const alive = async (): Promise<boolean[]> => Promise.all(browsers.map(async (browser) => (await browser.session()) !== null))
      expect(await alive()).toEqual([false, true, true])
      const all = await push(auth, { sub })
      expect(all.length, all.join('\n')).toBeLessThanOrEqual(budget)
      expect(await alive()).toEqual([false, false, false])
    })

    it.each(['database', 'jwt'] as const)(
      '%s sessions: tokens of the provider that end with them cost three more at most',
      async (strategy) => {
        const auth = site(strategy, true)
        const sub = `tokens-${strategy}`
        for (const change of [{ sid: `${sub}-sid`, sub }, { sub }]) {
          await signIn(auth, sub, `${sub}-sid`)
          const { id } = (await adapter.getUserByAccount!({ provider: 'acme', providerAccountId: sub }))!
          const tokens = (auth as Auth<ProviderTokensApi>).tokens
          expect(await tokens.get({ userId: id }, 'acme')).not.toBeNull()
          const all = await push(auth, change)
          expect(all.length, all.join('\n')).toBeLessThanOrEqual(7)
          expect(await tokens.get({ userId: id }, 'acme')).toBeNull()
        }
      },
    )

    it(`${many} sessions of one user take four`, async () => {
      const auth = site('database')
      const browser = await signIn(auth, 'many', 'many-1')
      const { id } = (await adapter.getUserByAccount!({ provider: 'acme', providerAccountId: 'many' }))!
      await fill(auth, id)
      const all = await push(auth, { sub: 'many' })
      expect(all.length, all.map((text) => text.slice(0, 200)).join('\n')).toBeLessThanOrEqual(4)
      expect([await browser.session(), (await adapter.listSessionsByUserId!(id)).length]).toEqual([null, 0])
    })

    /** Sessions as the strategy writes them. */
    async function fill(auth: Auth, userId: string): Promise<void> {
      let kernel: Parameters<Parameters<Auth['use']>[0]['setup']>[0] | undefined
      auth.use({ name: 'filler', setup: (given) => void (kernel = given) })
      const expires = new Date(Date.now() + 3_600_000)
      const tokens = [...Array(many).keys()].map((at) => `filler-${kind}-${at}`)
      const ends = kind === 'mysql' ? expires.toISOString().slice(0, 19) : expires.toISOString()
      for (let from = 0; from < many; from += 500) {
        const rows = tokens.slice(from, from + 500).map((token) => sql`(${sql.join([token, token, userId, ends])})`)
        await sql`insert into ${sql.id('sessions')} (${sql.join(['id', 'sessionToken', 'userId', 'expires'].map((name) => sql.id(name)))}) values ${sql.join(rows)}`.execute(
          db,
        )
      }
      await kernel!.job({ job: 'fill' }, async (ctx) => {
        for (let from = 0; from < many; from += 500)
          await ctx.records('sessionRecord').createMany(
            tokens.slice(from, from + 500).map((token) => {
              return {
                id: token,
                userId,
                token,
                provider: 'acme',
                sub: 'many',
                sid: token,
                attributes: {},
                started: new Date(),
                lastUsed: new Date(),
                expires,
              }
            }),
          )
      })
    }
  })
})
