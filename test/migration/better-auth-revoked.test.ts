/** What better-auth revokes while both run, between two runs of the move: it counts here from the next use on, and no later run brings it back. */
import { createAuth } from 'authkernel'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { mailPlugin } from 'authkernel/plugins/mail'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { phonePlugin } from 'authkernel/plugins/phone'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stores } from './_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { totpAt } from '../_totp.ts'
import { type FormerApp, startFormerApp } from './_former-app.ts'

interface App {
  handler(request: Request): Promise<Response>
}
interface Key {
  id: string
  key: string
}
const names = ['ann', 'bob', 'cleo', 'dora', 'eli'] as const
type Name = (typeof names)[number]

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const password = 'seven purple otters sing'
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }

describe.each(stores)('better-auth 1.7.25 revokes, on %s', (store) => {
  const mails: string[] = []
  const ids = {} as Record<Name, string>
  const browsers = {} as Record<Name, Client>
  let former: FormerApp<App> | undefined
  let before: App
  let db: Kysely<object>
  let totpSecret = ''
  let after: ReturnType<typeof startAfter>

  const startAfter = (on: Kysely<object>) => {
    const adapter = sqlAdapter(on, { names: betterAuthNames() })
    const auth = createAuth({ adapter, secret, origin, basePath: '/api/auth', env: false, logger: quiet })
      .use(betterAuthCompatPlugin({ db: on }))
      .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
      .use(usernamesPlugin())
      .use(twoFactorPlugin())
      .use(adminPlugin({ can: () => false }))
      .use(organizationsPlugin())
      .use(apiKeysPlugin())
      .use(phonePlugin({ send: () => {} }))
      .use(codesPlugin({ via: email() }))
      .use(mailPlugin({ transport: { send: ({ text }) => void mails.push(text) } }))
    return { auth, adapter, handler: (request: Request) => auth.handler(request) }
  }
  const browser = (app: App, other?: Client): Client => {
    const fresh = new Client({ handler: (request) => app.handler(request) }, { origin, basePath: '/api/auth' })
    for (const [name, value] of other?.cookies ?? []) fresh.cookies.set(name, value)
    return fresh
  }
  const json = async (who: Client, path: string, fields: object): Promise<Record<string, unknown>> => {
    const response = await who.request('POST', path, {
      body: JSON.stringify(fields),
      headers: { 'content-type': 'application/json', origin },
    })
    expect([path, response.status]).toEqual([path, 200])
    return (await response.json()) as Record<string, unknown>
  }
  async function enrol(): Promise<void> {
    const { totpURI } = await json(browsers.eli, '/two-factor/enable', { password })
    totpSecret = new URL(String(totpURI)).searchParams.get('secret') ?? ''
    await json(browsers.eli, '/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()) })
  }
  const newKey = (of: Name): Promise<Key> =>
    json(browsers[of], '/api-key/create', { name: `key of ${of}` }) as Promise<unknown> as Promise<Key>
  const userOfKey = async ({ key }: Key): Promise<string | undefined> =>
    (await after.auth.session(new Request(origin, { headers: { 'x-api-key': key } })))?.user?.id
  const userOf = async (who: Client): Promise<string | undefined> => ((await who.session())?.user as { id?: string } | undefined)?.id
  async function signIn(name: Name): Promise<{ who: Client; to: string }> {
    const who = browser(after)
    const fields = { csrfToken: await who.csrfToken(), email: `${name}@example.com`, password, callbackUrl: '/' }
    return { who, to: locationOf(await who.post('/callback/passwords', fields)) }
  }
  /** A sign-in without a password, as with a provider: the link of a mail. */
  async function requestCode(name: Name): Promise<{ who: Client; token: string }> {
    const who = browser(after)
    const sent = mails.length
    await who.post('/signin/codes', { csrfToken: await who.csrfToken(), email: `${name}@example.com`, callbackUrl: '/' })
    await expect.poll(() => mails.slice(sent).join()).toMatch(/codes\?token=[0-9a-f]{64}/)
    return { who, token: /codes\?token=([0-9a-f]{64})/.exec(mails.slice(sent).join())![1]! }
  }
  async function enterCode({ who, token }: { who: Client; token: string }): Promise<{ who: Client; to: string }> {
    return { who, to: locationOf(await who.post('/callback/codes', { csrfToken: await who.csrfToken(), token })) }
  }
  const run = () => after.auth.betterAuth.takeOver({ apply: true })

  beforeAll(async () => {
    former = await startFormerApp<App>({ name: 'better-auth-full', line: '1.7', version: '1.7.25', store, setting: { origin, secret } })
    before = former.app
    db = former.db
    for (const name of names) {
      browsers[name] = browser(before)
      const { user } = await json(browsers[name], '/sign-up/email', { name, email: `${name}@example.com`, password, username: `${name}_x` })
      ids[name] = (user as { id: string }).id
    }
    await sql`update "user" set "emailVerified" = ${store === 'libsql' ? 1 : true}`.execute(db)
    await sql`update "user" set role = 'admin' where id = ${ids.ann}`.execute(db)
    await enrol()
    after = startAfter(db)
    await after.auth.ready().catch(() => {})
    await after.adapter.migrate({ apply: true })
  }, 120_000)
  afterAll(async () => {
    await after?.auth.close()
    await former?.close()
  })

  it('before the first run too, a banned user signs in by no other way, and the factor counts', async () => {
    const codes = { dora: await requestCode('dora'), cleo: await requestCode('cleo'), eli: await requestCode('eli') }
    await json(browsers.ann, '/admin/ban-user', { userId: ids.dora, banReason: 'spam' })
    expect((await enterCode(codes.eli)).to).toContain('/two-factor')
    const entered = async (code: Awaited<ReturnType<typeof requestCode>>) => userOf((await enterCode(code)).who)
    expect([await entered(codes.dora), await entered(codes.cleo)]).toEqual([undefined, ids.cleo])
    await json(browsers.ann, '/admin/unban-user', { userId: ids.dora })
    expect(await entered(await requestCode('dora'))).toBe(ids.dora)
  })

  it('two runs at the same moment store everything once', async () => {
    const other = startAfter(new Kysely<object>({ dialect: former!.openDialect() }))
    await other.auth.ready()
    const key = await newKey('bob')
    const both = await Promise.all([run(), other.auth.betterAuth.takeOver({ apply: true })])
    for (const { applied } of both) expect(applied).toBe(true)
    await other.auth.close()
    const { kinds, refused } = await run()
    expect(refused).toEqual([])
    for (const [kind, { found, unchanged, open }] of Object.entries(kinds)) expect([kind, unchanged, open]).toEqual([kind, found, 0])
    for (const [table, count] of Object.entries({ auth_password: 5, auth_two_factor: 1, auth_user_name: 5, auth_api_key: 1 })) {
      const { rows } = await sql<{ n: number | string }>`select count(*) as n from ${sql.table(table)}`.execute(db)
      expect([table, Number(rows[0]!.n)]).toEqual([table, count])
    }
    expect(await userOfKey(key)).toBe(ids.bob)
    expect((await signIn('eli')).to).toContain('/two-factor')
  })

  it('an API key that is deleted there signs in here no longer, before any run, and no run brings it back', async () => {
    const key = await newKey('cleo')
    await run()
    expect(await userOfKey(key)).toBe(ids.cleo)
    await json(browsers.cleo, '/api-key/delete', { keyId: key.id })
    for (let i = 0; i < 2; i++) expect(await userOfKey(key)).toBeUndefined()
    await run()
    expect(await userOfKey(key)).toBeUndefined()
    expect((await after.auth.betterAuth.compare()).filter(({ there, taken }) => there > taken)).toEqual([])
  })

  it('an API key that is switched off there is refused, and counts again after it was switched on and taken', async () => {
    const key = await newKey('cleo')
    await run()
    await json(browsers.cleo, '/api-key/update', { keyId: key.id, name: 'renamed' })
    expect(await userOfKey(key)).toBe(ids.cleo)
    await sql`update apikey set enabled = ${store === 'libsql' ? 0 : false} where id = ${key.id}`.execute(db)
    expect(await userOfKey(key)).toBeUndefined()
    await sql`update apikey set enabled = ${store === 'libsql' ? 1 : true} where id = ${key.id}`.execute(db)
    await run()
    expect(await userOfKey(key)).toBe(ids.cleo)
  })

  it('a ban there ends the use of API keys and sessions here at once, and its end gives them back', async () => {
    const key = await newKey('bob')
    await run()
    const { who } = await signIn('bob')
    expect([await userOfKey(key), await userOf(who)]).toEqual([ids.bob, ids.bob])
    await json(browsers.ann, '/admin/ban-user', { userId: ids.bob, banReason: 'spam' })
    expect([await userOfKey(key), await userOf(who), await userOf((await signIn('bob')).who)]).toEqual([undefined, undefined, undefined])
    await json(browsers.ann, '/admin/unban-user', { userId: ids.bob })
    expect([await userOfKey(key), await userOf((await signIn('bob')).who)]).toEqual([ids.bob, ids.bob])
    expect((await run()).kinds['bans']?.conflict ?? 0).toBe(0)
  })

  it('a second factor that was switched off there, and then on again, is asked for, before and after a run', async () => {
    for (const runsBetween of [false, true]) {
      await json(browsers.eli, '/two-factor/disable', { password })
      if (runsBetween) expect((await run()).kinds['factors']).toMatchObject({ removed: 1 })
      expect(await userOf((await signIn('eli')).who)).toBe(ids.eli)
      await enrol()
      if (runsBetween) expect(await run()).toMatchObject({ applied: true, kinds: { factors: { new: 1, conflict: 0 } } })
      const { who, to } = await signIn('eli')
      expect(to).toContain('/two-factor')
      await who.post('/two-factor', { csrfToken: await who.csrfToken(), code: totpAt(totpSecret, Date.now()) })
      expect(await userOf(who)).toBe(ids.eli)
    }
    const both = await Promise.all([signIn('eli'), signIn('eli'), signIn('eli')])
    for (const { to } of both) expect(to).toContain('/two-factor')
  })

  it('a factor that was set up anew there is stored once, for sign-ins at the same moment', async () => {
    await json(browsers.eli, '/two-factor/disable', { password })
    await enrol()
    const all = await Promise.all(Array.from({ length: 6 }, () => signIn('eli')))
    for (const { to } of all) expect(to).toContain('/two-factor')
    const { rows } = await sql<{ n: number | string }>`select count(*) as n from auth_two_factor where user_id = ${ids.eli}`.execute(db)
    expect(Number(rows[0]!.n)).toBe(1)
    expect((await run()).kinds['factors']).toMatchObject({ found: 1, unchanged: 1, conflict: 0, kept: 0 })
  })

  it('a session that is revoked there is signed out here, and a run does not restore it', async () => {
    const { who } = await signIn('dora')
    expect(await userOf(who)).toBe(ids.dora)
    await json(browsers.ann, '/admin/revoke-user-sessions', { userId: ids.dora })
    expect([await userOf(who), await userOf(browser(after, browsers.dora))]).toEqual([undefined, undefined])
    await run()
    expect(await userOf(who)).toBeUndefined()
  })

  it('a user who is removed there is gone here, and a new user of the same address gets nothing of the former', async () => {
    const key = await newKey('cleo')
    await run()
    const { who } = await signIn('cleo')
    await json(browsers.ann, '/admin/remove-user', { userId: ids.cleo })
    expect([await userOf(who), await userOfKey(key), await userOf((await signIn('cleo')).who)]).toEqual([undefined, undefined, undefined])
    const again = browser(before)
    const { user } = await json(again, '/sign-up/email', { name: 'cleo', email: 'cleo@example.com', password: 'another one of a new user' })
    await sql`update "user" set "emailVerified" = ${store === 'libsql' ? 1 : true} where email = 'cleo@example.com'`.execute(db)
    const { kinds, refused } = await run()
    expect(refused).toEqual([])
    expect(kinds['passwords']).toMatchObject({ new: 1 })
    expect(await userOf((await signIn('cleo')).who)).toBeUndefined()
    expect((user as { id: string }).id).not.toBe(ids.cleo)
    for (const table of ['auth_password', 'auth_user_name']) {
      const { rows } = await sql<{ n: number | string }>`select count(*) as n from ${sql.table(table)} where user_id = ${ids.cleo}`.execute(
        db,
      )
      expect([table, Number(rows[0]!.n)]).toEqual([table, 0])
    }
  })

  it('tables of better-auth that cannot be read refuse a key, and are no 500', async () => {
    const key = await newKey('eli')
    await run()
    await sql`alter table apikey rename to apikey_away`.execute(db)
    try {
      await expect(userOfKey(key)).rejects.toThrow('cannot be read')
      const response = await after.auth.handler(new Request(`${origin}/api/auth/session`, { headers: { 'x-api-key': key.key } }))
      expect(response.status).toBe(503)
    } finally {
      await sql`alter table apikey_away rename to apikey`.execute(db)
    }
    expect(await userOfKey(key)).toBe(ids.eli)
  })

  it('`finish` waits for a run that is under way, and a run that comes after it writes nothing', async () => {
    await newKey('eli')
    let running: ReturnType<typeof run> | undefined
    // It has its lock by then.
    await new Promise<void>((begun) => (running = after.auth.betterAuth.takeOver({ apply: true, onProgress: () => begun() })))
    const [done, end] = await Promise.all([running!, after.auth.betterAuth.finish()])
    expect([done.applied, end.finished]).toEqual([true, true])
    expect(done.kinds['api-keys']).toMatchObject({ new: 1 })
    await newKey('eli')
    await expect(Promise.all([run(), run()])).rejects.toThrow('was finished on')
    expect(await after.auth.betterAuth.compare()).toEqual([])
  })
})
