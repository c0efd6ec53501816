/** The queries of docs/migrating-from-services.md, on a PostgreSQL with the tables that SuperTokens and Keycloak make: their rows import as the exports do. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import bcrypt from 'bcryptjs'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { importPlugin } from 'authkernel/plugins/import'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { bcryptHash, passwordsPlugin, pbkdf2Hash } from 'authkernel/plugins/passwords'
import { phonePlugin } from 'authkernel/plugins/phone'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reachable } from '../adapters/_servers.ts'
import { dropStore, newDatabase, openDatabase, type SqlSpec } from '../adapters/_stores.ts'
import { root } from '../_sources.ts'
import { baseConfig, Client } from '../_setup.ts'

const password = 'seven purple otters sing'
const page = readFileSync(join(root, 'docs/migrating-from-services.md'), 'utf8')
const queryOf = (heading: string): string => /```sql\n([\s\S]*?)```/.exec(page.split(`### ${heading}`)[1] ?? '')?.[1] ?? ''
const id = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`

// As the cores make them, with the columns that hold users.
const supertokens = [
  `create table app_id_to_user_id (app_id varchar(64) default 'public', user_id char(36), recipe_id varchar(128), primary_or_recipe_user_id char(36),
    is_linked_or_is_a_primary_user boolean default false)`,
  `create table emailpassword_users (app_id varchar(64) default 'public', user_id char(36), email varchar(256), password_hash varchar(256), time_joined bigint)`,
  `create table thirdparty_users (app_id varchar(64) default 'public', third_party_id varchar(28), third_party_user_id varchar(256), user_id char(36),
    email varchar(256), time_joined bigint)`,
  `create table passwordless_users (app_id varchar(64) default 'public', user_id char(36), email varchar(256), phone_number varchar(256), time_joined bigint)`,
  `create table emailverification_verified_emails (app_id varchar(64) default 'public', user_id varchar(128), email varchar(256))`,
  `create table userid_mapping (app_id varchar(64) default 'public', supertokens_user_id char(36), external_user_id varchar(128), external_user_id_info text)`,
  `create table user_roles (app_id varchar(64) default 'public', tenant_id varchar(64) default 'public', user_id varchar(128), role varchar(255))`,
  `create table user_metadata (app_id varchar(64) default 'public', user_id varchar(128), user_metadata text)`,
  `create table totp_user_devices (app_id varchar(64) default 'public', user_id varchar(128), device_name varchar(256), secret_key varchar(256),
    period integer, skew integer, verified boolean, created_at bigint)`,
]
const keycloak = [
  `create table realm (id varchar(36), name varchar(255))`,
  `create table user_entity (id varchar(36), email varchar(255), email_constraint varchar(255), email_verified boolean, enabled boolean,
    federation_link varchar(255), first_name varchar(255), last_name varchar(255), realm_id varchar(255), username varchar(255), created_timestamp bigint,
    service_account_client_link varchar(255), not_before integer)`,
  `create table credential (id varchar(36), salt bytea, type varchar(255), user_id varchar(36), created_date bigint, user_label varchar(255), secret_data text,
    credential_data text, priority integer)`,
  `create table federated_identity (identity_provider varchar(255), realm_id varchar(36), federated_user_id varchar(255), federated_username varchar(255),
    token text, user_id varchar(36))`,
  `create table user_attribute (name varchar(255), value varchar(255), user_id varchar(36), id varchar(36))`,
  `create table user_role_mapping (role_id varchar(255), user_id varchar(36))`,
  `create table keycloak_role (id varchar(36), client_role boolean, name varchar(255), realm_id varchar(255))`,
  `create table user_group_membership (group_id varchar(36), user_id varchar(36))`,
  `create table keycloak_group (id varchar(36), name varchar(255))`,
]

describe.skipIf(!process.env.CI && !(await reachable('postgres')))('queries of the guide', () => {
  let spec: SqlSpec
  let db: Kysely<Record<string, Record<string, unknown>>>
  const run = (...statements: string[]) =>
    statements.reduce<Promise<unknown>>((done, text) => done.then(() => sql.raw(text).execute(db)), Promise.resolve())

  beforeAll(async () => {
    spec = await newDatabase('postgres')
    db = openDatabase(spec).db
    await run(...supertokens, ...keycloak)
  }, 60_000)
  afterAll(async () => {
    await db.destroy()
    await dropStore(spec)
  })

  async function importRows(from: 'supertokens' | 'keycloak', heading: string, accept: string[]) {
    const { rows } = await sql.raw<Record<string, unknown>>(queryOf(heading)).execute(db)
    const file = rows.map((row) => JSON.stringify(Object.values(row)[0])).join('\n')
    const adapter = memoryAdapter(memoryData())
    const auth = createAuth(baseConfig({ session: { strategy: 'database' }, throttle: false }))
      .use(adapterPlugin(adapter))
      .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => {} }) })
      .use(passwordsPlugin({ breached: false, verify: [bcryptHash(), pbkdf2Hash()] }))
      .use(twoFactorPlugin())
      .use(usernamesPlugin())
      .use(adminPlugin({ can: () => false }))
      .use(phonePlugin({ send: () => undefined }))
      .use(importPlugin())
    await auth.ready()
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(file)
    }
    const report = await auth.import.run({ from, files: () => [bytes()], apply: true, accept })
    const signIn = async (email: string) => {
      const client = new Client(auth)
      const response = await client.post('/callback/passwords', { email, password })
      return [(await client.session())?.user?.id, new URL(response.headers.get('location')!, 'http://localhost:3000').pathname]
    }
    return { report, adapter, signIn, auth }
  }

  it('SuperTokens: linked methods are one user, an external id counts, and only a verified address does', async () => {
    const hash = bcrypt.hashSync(password, 4)
    await run(
      `insert into app_id_to_user_id (user_id, recipe_id, primary_or_recipe_user_id) values ('${id(1)}', 'emailpassword', '${id(1)}'),
        ('${id(2)}', 'thirdparty', '${id(1)}'), ('${id(3)}', 'emailpassword', '${id(3)}'), ('${id(4)}', 'passwordless', '${id(4)}')`,
      `insert into emailpassword_users values ('public', '${id(1)}', 'ada@example.com', '${hash}', 1), ('public', '${id(3)}', 'eve@example.com', '${hash}', 1)`,
      `insert into thirdparty_users values ('public', 'google', 'g-1', '${id(2)}', 'ada@example.com', 1)`,
      `insert into passwordless_users values ('public', '${id(4)}', null, '+4915123456789', 1)`,
      `insert into userid_mapping values ('public', '${id(1)}', 'ada', null)`,
      `insert into emailverification_verified_emails values ('public', 'ada', 'ada@example.com')`,
      `insert into user_metadata values ('public', 'ada', '{"first_name":"Ada"}')`,
      `insert into totp_user_devices values ('public', 'ada', 'phone', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 30, 1, true, 1)`,
    )
    const { report, adapter, signIn } = await importRows('supertokens', 'SuperTokens', [])
    expect(report).toMatchObject({ applied: true, refused: [] })
    expect(report.kinds).toMatchObject({
      users: { new: 3 },
      passwords: { new: 2 },
      factors: { new: 1 },
      accounts: { found: 1 },
      phones: { new: 1 },
    })
    expect(await adapter.getUser('ada')).toMatchObject({ name: 'Ada', email: 'ada@example.com', emailVerified: expect.any(Date) })
    expect((await adapter.getUserByAccount({ provider: 'google', providerAccountId: 'g-1' }))?.id).toBe('ada')
    expect((await adapter.getUserByAccount({ provider: 'phone', providerAccountId: '+4915123456789' }))?.id).toBe(id(4))
    expect(await signIn('ada@example.com')).toEqual([undefined, '/auth/two-factor'])
    expect(await signIn('eve@example.com')).toEqual([undefined, '/auth/passwords/mailed'])
  })

  it('Keycloak: the users of one realm, with passwords, identities and what disables them', async () => {
    const { pbkdf2Sync, randomBytes } = await import('node:crypto')
    const salt = randomBytes(16)
    const secret = JSON.stringify({
      value: pbkdf2Sync(password, salt, 27_500, 64, 'sha256').toString('base64'),
      salt: salt.toString('base64'),
    })
    const data = JSON.stringify({ hashIterations: 27_500, algorithm: 'pbkdf2-sha256' })
    const user = (key: string, name: string, realm: string, enabled = true, service = 'null') =>
      `('${key}', '${name}@example.com', true, ${enabled}, '${name}', '${realm}', '${name}', ${service})`
    await run(
      `insert into realm values ('r1', 'demo'), ('r2', 'master')`,
      `insert into user_entity (id, email, email_verified, enabled, first_name, realm_id, username, service_account_client_link) values
        ${[user('k1', 'ada', 'r1'), user('k2', 'bob', 'r1', false), user('k3', 'root', 'r2'), user('k4', 'robot', 'r1', true, `'client'`)].join()}`,
      `insert into credential (id, type, user_id, secret_data, credential_data, priority) values ('c1', 'password', 'k1', '${secret}', '${data}', 10)`,
      `insert into federated_identity values ('google', 'r1', 'g-1', 'ada', null, 'k1')`,
      `insert into user_attribute values ('phoneNumber', '+4915123456780', 'k1', 'a1'), ('phoneNumberVerified', 'true', 'k1', 'a2')`,
      `insert into keycloak_role values ('o1', false, 'default-roles-demo', 'r1'), ('o2', true, 'view-profile', 'r1')`,
      `insert into user_role_mapping values ('o1', 'k1'), ('o2', 'k1')`,
    )
    const { report, adapter, signIn } = await importRows('keycloak', 'Keycloak', [])
    expect(report).toMatchObject({ applied: true, refused: [] })
    expect(report.kinds).toMatchObject({ users: { new: 2 }, passwords: { new: 1 }, bans: { new: 1 }, phones: { new: 1 } })
    expect(await adapter.getUser('k1')).toMatchObject({ name: 'ada', email: 'ada@example.com', emailVerified: expect.any(Date) })
    expect((await adapter.getUserByAccount({ provider: 'google', providerAccountId: 'g-1' }))?.id).toBe('k1')
    expect([await adapter.getUser('k3'), await adapter.getUser('k4')]).toEqual([null, null])
    expect((await signIn('ada@example.com'))[0]).toBe('k1')
    expect((await signIn('ada'))[0]).toBe('k1')
  })
})
