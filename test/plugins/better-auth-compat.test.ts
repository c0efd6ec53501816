/** Cookies and tables of better-auth; the apps themselves move in test/migration/better-auth.test.ts. */
import { createHmac } from 'node:crypto'
import { createAuth } from 'authkernel'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import type { Kernel } from 'authkernel/kernel'
import { guestPlugin } from 'authkernel/plugins/guest'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import passkey from 'authkernel/providers/passkey'
import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const old = 'an old secret of at least thirty-two letters'
const newest = 'the new secret of at least thirty-two letters'
const credentialId = '-_8AAQIDBAUGBwgJCgsMDQ'
const statements = [
  `create table "user" ("id" text primary key, "name" text not null, "email" text not null unique, "emailVerified" integer not null, "image" text,
    "createdAt" date not null, "updatedAt" date not null, "twoFactorEnabled" integer)`,
  `create table "session" ("id" text primary key, "expiresAt" date not null, "token" text not null unique, "createdAt" date not null,
    "updatedAt" date not null, "ipAddress" text, "userAgent" text, "userId" text not null references "user" ("id") on delete cascade)`,
  `create table "account" ("id" text primary key, "accountId" text not null, "providerId" text not null, "userId" text not null references "user" ("id"),
    "accessToken" text, "refreshToken" text, "idToken" text, "accessTokenExpiresAt" date, "refreshTokenExpiresAt" date, "scope" text, "password" text,
    "createdAt" date not null, "updatedAt" date not null)`,
  `create table "twoFactor" ("id" text primary key, "secret" text not null, "backupCodes" text not null, "userId" text not null, "verified" integer)`,
  `create table "passkey" ("id" text primary key, "name" text, "publicKey" text not null, "userId" text not null, "credentialID" text not null,
    "counter" integer not null, "deviceType" text not null, "backedUp" integer not null, "transports" text, "createdAt" date, "aaguid" text)`,
  `insert into "user" values ('1', '', 'ann@example.com', 1, null, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1)`,
  `insert into "user" values ('2', 'Bob', 'bob@example.com', 0, null, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 0)`,
  `insert into "session" values ('s', '2099-01-01T00:00:00.000Z', 'token-of-ann', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', null, null, '1')`,
  `insert into "account" values ('a', 'g1', 'github', '1', 'at', null, null, '2026-02-03T04:05:06.000Z', null, 'x', null, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
  `insert into "passkey" values ('p', 'Phone', 'pQECAyYgASFYIA==', '1', '${credentialId}', 3, 'multiDevice', 1, 'internal,hybrid', null, null)`,
]

async function world(config: Parameters<typeof baseConfig>[0] = {}, passkeys = true) {
  const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: libsqlDialect({ url: ':memory:' }) })
  for (const statement of statements) await sql.raw(statement).execute(db)
  const adapter = sqlAdapter(db, { names: betterAuthNames({ passkeys }) })
  await adapter.migrate({ apply: true })
  const base = baseConfig({ adapter, session: { strategy: 'database' }, ...config })
  return { db, adapter, base }
}
const signed = (token: string, secret: string): string =>
  encodeURIComponent(`${token}.${createHmac('sha256', secret).update(token).digest('base64')}`)

describe('the session cookie', () => {
  it.each([
    ['http://localhost:3000', 'better-auth.session_token'],
    ['https://app.example', '__Secure-better-auth.session_token'],
  ])('%s: is %s, under any of the secrets', async (origin, name) => {
    const { base } = await world({ origin })
    const auth = createAuth(base).use(betterAuthCompatPlugin({ secret: [newest, old] }))
    const read = async (cookie: string) => auth.session(new Request(origin, { headers: { cookie } }))
    for (const secret of [newest, old]) expect((await read(`${name}=${signed('token-of-ann', secret)}`))?.user?.id).toBe('1')
    expect(await read(`${name}=${signed('token-of-ann', 'a third secret')}`)).toBeNull()
    expect(await read(`${name}=token-of-ann`)).toBeNull()
    expect(await read(`${name}=${signed('', newest)}`)).toBeNull()
    const { headers } = await auth.handler(
      new Request(`${origin}/auth/session`, { headers: { cookie: `${name}=${signed('token-of-ann', old)}` } }),
    )
    // Signed with the newest secret from now on.
    expect(headers.getSetCookie().join()).toContain(`${name}=${signed('token-of-ann', newest)}`)
  })

  it('takes the secrets of the configuration by default', async () => {
    const { base } = await world()
    const auth = createAuth({ ...base, secret: old }).use(betterAuthCompatPlugin())
    const cookie = `better-auth.session_token=${signed('token-of-ann', old)}`
    expect((await auth.session(new Request('http://localhost:3000', { headers: { cookie } })))?.user?.id).toBe('1')
  })

  it('answers the routes of the client that are asked for, and refuses others', async () => {
    const { base } = await world()
    const status = async (auth: { handler(request: Request): Promise<Response> }, path: string): Promise<number> =>
      (await auth.handler(new Request(`http://localhost:3000/auth${path}`))).status
    const all = createAuth(base).use(betterAuthCompatPlugin({ routes: true }))
    expect([await status(all, '/ok'), await status(all, '/get-session')]).toEqual([200, 200])
    const one = createAuth(base).use(betterAuthCompatPlugin({ routes: ['/get-session'] }))
    expect([await status(one, '/ok'), await status(one, '/get-session')]).toEqual([400, 200])
    const none = createAuth(base).use(betterAuthCompatPlugin())
    expect(await status(none, '/get-session')).toBe(400)
    expect(() => betterAuthCompatPlugin({ routes: ['/list-sessions'] as never })).toThrow('`routes` has /list-sessions')
  })

  it('refuses an empty secret', () => {
    expect(() => betterAuthCompatPlugin({ secret: '' })).toThrow('`secret` must be the value of BETTER_AUTH_SECRET')
    expect(() => betterAuthCompatPlugin({ secret: [] })).toThrow('`secret`')
  })
})

describe('the tables', () => {
  it('reads users, accounts and sessions as they are', async () => {
    const { adapter } = await world()
    expect(await adapter.getUser('1')).toMatchObject({ id: '1', name: null, email: 'ann@example.com', emailVerified: expect.any(Date) })
    expect(await adapter.getUser('2')).toMatchObject({ name: 'Bob', emailVerified: null })
    expect(await adapter.getAccount('g1', 'github')).toMatchObject({
      type: 'oauth',
      userId: '1',
      access_token: 'at',
      expires_at: Date.UTC(2026, 1, 3, 4, 5, 6) / 1000,
    })
  })

  it('writes what better-auth reads', async () => {
    const { adapter, db } = await world()
    const user = await adapter.createUser({ id: '3', name: null, email: 'cleo@example.com', emailVerified: null } as never)
    await adapter.updateUser({ id: user.id, emailVerified: new Date() })
    await adapter.linkAccount({ userId: '3', type: 'oidc', provider: 'acme', providerAccountId: 'x', expires_at: 1_770_000_000 })
    await adapter.createSession({ sessionToken: 't', userId: '3', expires: new Date(4e12) })
    const { rows } = await sql<
      Record<string, unknown>
    >`select u.name, u."emailVerified", u."createdAt" as made, a."accessTokenExpiresAt" as ends,
      s."updatedAt" as updated, s.id as sid from "user" u join account a on a."userId" = u.id join session s on s."userId" = u.id where u.id = '3'`.execute(
      db,
    )
    expect(rows).toEqual([
      {
        name: '',
        emailVerified: 1,
        made: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        ends: '2026-02-02T02:40:00.000Z',
        updated: expect.stringMatching(/Z$/),
        sid: expect.stringMatching(/.{20}/),
      },
    ])
  })

  it('keeps users without an address, whose column is NOT NULL: guests, and users who lost an address that they never proved', async () => {
    const { adapter, base, db } = await world()
    const auth = createAuth(base).use(betterAuthCompatPlugin({ db })).use(guestPlugin())
    await auth.ready().catch(() => {})
    await adapter.migrate({ apply: true })
    await auth.ready()
    const visitors = [new Client(auth), new Client(auth)]
    for (const visitor of visitors) {
      await visitor.post('/guest', { csrfToken: await visitor.csrfToken() })
      expect(await visitor.session()).toMatchObject({ guest: true, user: { id: expect.any(String) } })
    }
    expect((await adapter.updateUser({ id: '2', email: null } as never)).email).toBeNull()
    expect([await adapter.getUserByEmail('bob@example.com'), (await adapter.getUser('2'))?.email]).toEqual([null, null])
    const { rows } = await sql<{ email: string }>`select distinct email from "user" where email like '%@no-address.invalid'`.execute(db)
    expect(rows).toHaveLength(3)
  })

  it('finds passkeys by the id that a browser sends, and gives them an account', async () => {
    const { adapter, base, db } = await world()
    const stored = Buffer.from(credentialId, 'base64url').toString('base64')
    expect(await adapter.getAuthenticator(stored)).toMatchObject({
      credentialID: stored,
      providerAccountId: stored,
      userId: '1',
      counter: 3,
    })
    expect((await adapter.updateAuthenticatorCounter(stored, 4)).counter).toBe(4)
    const other = Buffer.from('another credential').toString('base64')
    await adapter.createAuthenticator({
      credentialID: other,
      userId: '2',
      providerAccountId: other,
      credentialPublicKey: 'pQ==',
      counter: 0,
      credentialDeviceType: 'singleDevice',
      credentialBackedUp: false,
    })
    const { rows } = await sql<{ credentialID: string }>`select "credentialID" from passkey where "userId" = '2'`.execute(db)
    expect(rows).toEqual([{ credentialID: Buffer.from('another credential').toString('base64url') }])

    const auth = createAuth({ ...base, experimental: { enableWebAuthn: true }, providers: [passkey()] }).use(betterAuthCompatPlugin())
    let account: unknown
    let none: unknown
    auth.use({
      name: 'looks',
      setup: (kernel) =>
        kernel.route({
          method: 'GET',
          path: '/looks',
          async handler(ctx) {
            account = await ctx.service('store').getAccount(stored, 'passkey')
            none = await ctx.service('store').getAccount(stored, 'github')
            return new Response('')
          },
        }),
    })
    await auth.handler(new Request('http://localhost:3000/auth/looks'))
    expect(account).toEqual({ provider: 'passkey', providerAccountId: stored, userId: '1', type: 'webauthn' })
    expect(none).toBeNull()
  })

  it('makes no column in them', async () => {
    const { adapter } = await world({}, false)
    expect((await adapter.migrate()).statements).toEqual([])
  })
})

describe('taking over', () => {
  it('says what is missing', async () => {
    const { base, db } = await world()
    await sql`insert into account values ('c', '1', 'credential', '1', null, null, null, null, null, null, ${'0'.repeat(32)} || ':' || ${'0'.repeat(128)}, '', '')`.execute(
      db,
    )
    await sql`insert into "twoFactor" values ('t', '00', '[]', '1', 1)`.execute(db)
    const alone = createAuth(base).use(betterAuthCompatPlugin({ db }))
    const { notes, ...found } = await alone.betterAuth.takeOver({ apply: true })
    expect(found).toMatchObject({ users: 2, sessions: 1, passwords: { found: 1, taken: 0 }, factors: { found: 1, taken: 0 } })
    expect(notes).toEqual([
      expect.stringContaining('passwordsPlugin({ verify: [betterAuthHash()] })'),
      expect.stringContaining('cannot be decrypted'),
      expect.stringContaining('twoFactorPlugin()'),
      expect.stringContaining('1 passkeys stay behind: add the provider `passkey()`'),
    ])
    await expect(createAuth(base).use(betterAuthCompatPlugin()).betterAuth.takeOver()).rejects.toThrow('as `db`')
  })

  it('refuses a hash that no format of `verify` knows, and names the user; nothing is written until that is accepted', async () => {
    const { base, db, adapter } = await world()
    await sql`insert into account values ('c', '1', 'credential', '1', null, null, null, null, null, null, 'md5:x', '', '')`.execute(db)
    const auth = createAuth(base)
      .use({ name: 'post', setup: (kernel) => kernel.provide('mailTransport', { send() {} }) })
      .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
      .use(betterAuthCompatPlugin({ db }))
    await auth.ready().catch(() => {})
    await adapter.migrate({ apply: true })
    const problem = { name: 'passwords-refused', level: 'loss', count: 1, examples: ['1'] }
    expect((await auth.betterAuth.takeOver({ apply: true })).problems).toContainEqual(expect.objectContaining(problem))
    expect(await auth.betterAuth.takeOver({ apply: true })).toMatchObject({
      applied: false,
      refused: ['passwords-refused', 'passkeys', 'factors-missing'],
    })
    const accept = ['passwords-refused', 'passkeys', 'factors-missing']
    expect(await auth.betterAuth.takeOver({ apply: true, accept })).toMatchObject({ applied: true, refused: [] })
  })

  it('says so when these are not the tables of better-auth', async () => {
    const { base } = await world()
    const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: libsqlDialect({ url: ':memory:' }) })
    const { notes } = await createAuth(base).use(betterAuthCompatPlugin({ db })).betterAuth.takeOver()
    expect(notes).toEqual(['There is no table user.', 'There is no table account.', 'There is no table session.'])
  })
})

describe('while both run', () => {
  // The tables of the app are there, and those of plugins are made or not.
  async function access({ isMigrated, isFailing }: { isMigrated: boolean; isFailing: boolean }): Promise<boolean> {
    const { db, base } = await world()
    const adapter = sqlAdapter(db, { names: betterAuthNames({ passkeys: true }) })
    const records = new Proxy(adapter.records!, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown
        if (typeof method !== 'function' || name !== 'getMany') return method
        return (...given: unknown[]) =>
          isFailing && given[0] === 'importEntry' ? Promise.reject(new Error('the connection was lost')) : method.apply(target, given)
      },
    })
    let inside: Kernel | undefined
    const auth = createAuth({ ...base, adapter: Object.assign(adapter, { records }) })
      .use(betterAuthCompatPlugin({ db }))
      .use({ name: 'inside', setup: (kernel) => void (inside = kernel) })
    if (isMigrated) {
      await auth.ready().catch(() => {})
      await adapter.migrate({ apply: true })
    } else await auth.ready().catch(() => {})
    return inside!.job({ job: 'test' }, (ctx) => ctx.access.allows('2', 'apiKey'))
  }

  it('bans of better-auth are not passed over because the ledger cannot be read; before the first migration there is none', async () => {
    expect(await access({ isMigrated: true, isFailing: false })).toBe(true)
    await expect(access({ isMigrated: true, isFailing: true })).rejects.toThrow()
    expect(await access({ isMigrated: false, isFailing: false })).toBe(true)
  })
})

describe('tables and columns under names of the app', () => {
  const schema = { casing: 'snake', models: { user: { modelName: 'people', fields: { email: 'mail_address' } } } } as const
  const hash = `${'0'.repeat(32)}:${'0'.repeat(128)}`
  const own = [
    `create table people (id text primary key, name text not null, mail_address text not null unique, email_verified integer not null, image text,
      created_at date not null, updated_at date not null, two_factor_enabled integer, banned integer, ban_reason text, ban_expires date)`,
    `create table session (id text primary key, expires_at date not null, token text not null unique, created_at date not null,
      updated_at date not null, ip_address text, user_agent text, user_id text not null)`,
    `create table account (id text primary key, account_id text not null, provider_id text not null, user_id text not null, access_token text,
      refresh_token text, id_token text, access_token_expires_at date, refresh_token_expires_at date, scope text, password text,
      created_at date not null, updated_at date not null)`,
    `create table two_factor (id text primary key, secret text not null, backup_codes text not null, user_id text not null, verified integer)`,
    `insert into people values ('1', 'Ann', 'ann@example.com', 1, null, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1, 0, null, null)`,
    `insert into people values ('2', 'Bob', 'bob@example.com', 1, null, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 0, 1, 'spam', null)`,
    `insert into session values ('s', '2099-01-01T00:00:00.000Z', 'token-of-ann', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', null, null, '1')`,
    `insert into account values ('c', '1', 'credential', '1', null, null, null, null, null, null, '${hash}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
    `insert into two_factor values ('t', '00', '[]', '1', 1)`,
  ]
  async function renamed() {
    const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: libsqlDialect({ url: ':memory:' }) })
    for (const statement of own) await sql.raw(statement).execute(db)
    const adapter = sqlAdapter(db, { names: betterAuthNames(schema) })
    await adapter.migrate({ apply: true })
    return { db, adapter, base: baseConfig({ adapter, session: { strategy: 'database' } }) }
  }

  it('are read and written, and everything in them is found', async () => {
    const { adapter, base, db } = await renamed()
    expect((await adapter.migrate()).statements).toEqual([])
    expect(await adapter.getUser('1')).toMatchObject({ email: 'ann@example.com', emailVerified: expect.any(Date) })
    const auth = createAuth(base).use(betterAuthCompatPlugin({ db, schema, secret: old }))
    const cookie = `better-auth.session_token=${signed('token-of-ann', old)}`
    expect((await auth.session(new Request('http://localhost:3000', { headers: { cookie } })))?.user?.id).toBe('1')
    const { problems, users } = await auth.betterAuth.takeOver()
    expect([users, problems.map(({ name }) => name)]).toEqual([
      2,
      ['passwords', 'factors-unreadable', 'factors', 'bans', 'short-passwords', 'sessions'],
    ])
    const user = await adapter.createUser({ id: '3', name: null, email: 'cleo@example.com', emailVerified: null } as never)
    await adapter.linkAccount({ userId: user.id, type: 'oidc', provider: 'acme', providerAccountId: 'x' })
    const { rows } = await sql`select p.mail_address, a.provider_id, a.created_at is not null as dated from people p join account a
      on a.user_id = p.id where p.id = '3'`.execute(db)
    expect(rows).toEqual([{ mail_address: 'cleo@example.com', provider_id: 'acme', dated: 1 }])
  })

  it('are an error with the missing columns where nothing says what they are called', async () => {
    const { base, db } = await renamed()
    const auth = createAuth(base).use(betterAuthCompatPlugin({ db, tables: { user: 'people' } }))
    for (const ask of [() => auth.betterAuth.takeOver(), () => auth.betterAuth.compare()])
      await expect(ask()).rejects.toThrow(
        /The table people has no column email, emailVerified, banReason, banExpires\.[\s\S]*The table account has no column userId[\s\S]*casing: 'snake'/,
      )
  })

  it('refuses a model that better-auth does not have', () => {
    expect(() => betterAuthCompatPlugin({ schema: { models: { users: {} } } as never })).toThrow('has no model users. Known: user, account')
    expect(() => betterAuthNames({ casing: 'kebab' as never })).toThrow('"camel" or "snake"')
  })
})
