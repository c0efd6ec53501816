/** Exports of ten services into a real database: who signs in afterwards, what a second run does, and what is said of the rest. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { MailMessage } from 'authkernel/kernel'
import { adminPlugin } from 'authkernel/plugins/admin'
import { importPlugin, type ServiceImport } from 'authkernel/plugins/import'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { bcryptHash, firebaseScrypt, luciaHash, passwordsPlugin, pbkdf2Hash } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { phonePlugin } from 'authkernel/plugins/phone'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { reachable } from '../adapters/_servers.ts'
import { dropStore, newDatabase, openDatabase, openSql, type SqlSpec } from '../adapters/_stores.ts'
import { baseConfig, Client } from '../_setup.ts'
import { sampleCases } from '../_tier.ts'
import { totpAt } from '../_totp.ts'
import { bcryptOf, firebaseKey, type Fixture, fixtures, totpSecret, typed } from './services/_fixtures.ts'

const stores = ['libsql', ...((await reachable('postgres')) || process.env.CI ? (['postgres'] as const) : [])] as const
const where = (response: Response): string => new URL(response.headers.get('location') ?? '/none', 'http://localhost:3000').pathname

async function world(spec: SqlSpec) {
  const base = baseConfig({ session: { strategy: 'database' }, throttle: false })
  const mails: MailMessage[] = []
  const adapter = openSql(openDatabase(spec))
  const auth = createAuth({ ...base, adapter })
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) })
    .use(oidcPlugin({ id: 'google', name: 'Google', issuer: 'https://accounts.google.com', clientId: 'app', clientSecret: 'secret' }))
    .use(passwordsPlugin({ breached: false, verify: [bcryptHash(), firebaseScrypt(firebaseKey), luciaHash(), pbkdf2Hash()] }))
    .use(twoFactorPlugin())
    .use(usernamesPlugin())
    .use(adminPlugin({ can: () => false }))
    .use(organizationsPlugin())
    .use(phonePlugin({ send: () => undefined }))
    .use(importPlugin())
  await auth.ready()
  const run = (from: string, files: readonly string[], more: Partial<ServiceImport> = {}) =>
    auth.import.run({ from: from as ServiceImport['from'], files: () => files.map(bytesOf), ...more })
  const signIn = async (email: string, password = typed, client = new Client(auth)) => {
    const response = await client.post('/callback/passwords', { email, password })
    return { client, place: where(response), user: (await client.session())?.user }
  }
  return { auth, adapter, mails, run, signIn, advance: base.runtime.advance, now: base.runtime.now }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}

// The gate imports each export into one of the stores, and takes turns.
describe.each(stores.map((store, row) => ({ store, sampled: sampleCases(Object.entries(fixtures), stores.length, row) })))(
  'on $store',
  ({ store, sampled }) => {
    describe.each(sampled)('%s', (from, make) => {
      let spec: SqlSpec
      let at: Awaited<ReturnType<typeof world>>
      const fixture: Fixture = make()
      const hashed = from !== 'cognito'
      beforeAll(async () => {
        spec = await newDatabase(store)
        at = await world(spec)
      }, 60_000)
      afterAll(async () => {
        await at.auth.close()
        await dropStore(spec)
      })

      it('is refused while something would be lost, and writes nothing', async () => {
        const report = await at.run(from, fixture.files, { apply: true })
        expect(report.refused).toEqual(fixture.problems)
        expect([report.applied, await at.adapter.getUser(fixture.ids.ada)]).toEqual([false, null])
      })

      it('is imported once the problems are accepted, without a mail', async () => {
        const report = await at.run(from, fixture.files, { apply: true, accept: fixture.problems })
        expect(report).toMatchObject({ applied: true, refused: [], kinds: { users: { found: 3, new: 3, refused: 0, conflict: 0 } } })
        expect(report.kinds['passwords']?.new ?? 0).toBe(hashed ? 2 : 0)
        const [ada, eve] = [await at.adapter.getUser(fixture.ids.ada), await at.adapter.getUser(fixture.ids.eve)]
        expect([ada?.email, Boolean(ada?.emailVerified), ada?.name]).toEqual(['ada@example.com', true, expect.stringContaining('Ada')])
        expect([eve?.email, eve?.emailVerified, at.mails]).toEqual(['eve@example.com', null, []])
        if (fixture.account) {
          const [provider, id] = fixture.account
          expect((await at.adapter.getUserByAccount({ provider, providerAccountId: id }))?.id).toBe(fixture.ids.ada)
        }
      })

      // An export of Cognito has no hashes: the trickle signs its users in.
      const itWithHashes: typeof it | undefined = hashed ? it : undefined
      itWithHashes?.('signs in with the old password, with the factor where there is one, unless banned', async () => {
        expect((await at.signIn('ada@example.com', 'not this one at all')).user).toBeUndefined()
        const { client, place, user } = await at.signIn('ada@example.com')
        if (fixture.ban) return expect([place, user]).toEqual(['/auth/error', undefined])
        if (!fixture.totp) return expect(user?.email).toBe('ada@example.com')
        expect([place, user]).toEqual(['/auth/two-factor', undefined])
        const secret = from === 'keycloak' ? base32('Hello!otterotter') : totpSecret
        await client.post('/two-factor', { code: totpAt(secret, at.now()) })
        expect((await client.session())?.user?.email).toBe('ada@example.com')
      })

      itWithHashes?.('parks the hash of an address that was not verified, until its owner opens a mail', async () => {
        const { client, place, user } = await at.signIn('eve@example.com')
        expect([place, user]).toEqual(['/auth/passwords/mailed', undefined])
        await vi.waitFor(() => expect(at.mails).not.toHaveLength(0), { timeout: 5000, interval: 5 })
        await client.post('/passwords/confirm', { token: /confirm\?token=([0-9a-f]{64})/.exec(at.mails.pop()!.text)![1]! })
        expect((await at.signIn('eve@example.com')).user?.id).toBe(fixture.ids.eve)
      })

      it('does not let in the user whose hash was refused', async () => {
        expect((await at.signIn('bob@example.com')).user).toBeUndefined()
        expect(await at.auth.passwords.has({ userId: fixture.ids.bob })).toBe(false)
      })

      it('a second run changes nothing', async () => {
        const { kinds } = await at.run(from, fixture.files, { apply: true, accept: fixture.problems })
        for (const [kind, counts] of Object.entries(kinds))
          expect([kind, counts.new, counts.refreshed, counts.removed, counts.conflict]).toEqual([kind, 0, 0, 0, 0])
        expect(at.mails).toEqual([])
      })

      it('a row that changed there is refreshed; one that changed here too is listed', async () => {
        const later = make('Grace')
        const { kinds } = await at.run(from, later.files, { apply: true, accept: [...fixture.problems, 'passwords-conflicts'] })
        expect(kinds['users']).toMatchObject({ new: 0, conflict: 0 })
        expect((await at.adapter.getUser(fixture.ids.ada))?.name).toContain('Grace')
        await at.adapter.updateUser({ id: fixture.ids.ada, name: 'Own' })
        const again = await at.run(from, make('Joan').files, { apply: true, accept: [...fixture.problems, 'passwords-conflicts'] })
        expect(again.refused).toEqual(['users-conflicts'])
        const kept = await at.run(from, make('Joan').files, { apply: true, accept: ['all'] })
        expect([kept.kinds['users']?.conflicts, (await at.adapter.getUser(fixture.ids.ada))?.name]).toEqual([[fixture.ids.ada], 'Own'])
      })
    })
  },
)

function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

describe('hostile exports', () => {
  let spec: SqlSpec
  let at: Awaited<ReturnType<typeof world>>
  beforeAll(async () => {
    spec = await newDatabase('libsql')
    at = await world(spec)
  })
  afterAll(async () => {
    await at.auth.close()
    await dropStore(spec)
  })
  const clerk = (id: string, email: string, more: object = {}) =>
    JSON.stringify({
      id,
      primary_email_address: email,
      verified_email_addresses: email,
      password_digest: bcryptOf(typed),
      password_hasher: 'bcrypt',
      ...more,
    })

  it('a user here who was not taken from the source keeps the address, the id, the password and the accounts', async () => {
    await at.adapter.createUser({ id: 'own', email: 'own@example.com', emailVerified: new Date() })
    await at.adapter.createUser({ id: 'same-id', email: 'other@example.com', emailVerified: new Date() })
    const file = [clerk('thief', 'own@example.com'), clerk('same-id', 'mallory@example.com'), clerk('good', 'good@example.com')].join('\n')
    const look = await at.run('clerk', [file])
    expect(look.refused.toSorted()).toEqual(['users-conflicts', 'users-refused'])
    const report = await at.run('clerk', [file], { apply: true, accept: ['all'] })
    expect(report.kinds['users']).toMatchObject({ new: 1, refused: 1, conflict: 1 })
    expect(report.kinds['passwords']).toMatchObject({ new: 1 })
    expect([(await at.adapter.getUserByEmail('own@example.com'))?.id, (await at.adapter.getUser('same-id'))?.email]).toEqual([
      'own',
      'other@example.com',
    ])
    expect([(await at.signIn('own@example.com')).user, (await at.signIn('other@example.com')).user]).toEqual([undefined, undefined])
    expect((await at.signIn('good@example.com')).user?.id).toBe('good')
  })

  it('a user who proved the address here takes nothing more of a source that has not verified it', async () => {
    const planted = { totp_secret: totpSecret }
    const rows = (more: object): string[] => [clerk('h1', 'hal@example.com', more)]
    const unverified = { verified_email_addresses: '', unverified_email_addresses: 'hal@example.com' }
    await at.run('clerk', rows(unverified), { apply: true, accept: ['all'] })
    const owner = new Client(at.auth)
    await owner.post('/passwords/reset', { email: 'hal@example.com' })
    await vi.waitFor(() => expect(at.mails).not.toHaveLength(0), { timeout: 5000, interval: 5 })
    await owner.post('/passwords/new', {
      token: /new\?token=([0-9a-f]{64})/.exec(at.mails.pop()!.text)![1]!,
      password: 'mine is another one',
    })
    expect((await at.signIn('hal@example.com', 'mine is another one')).user?.id).toBe('h1')
    const report = await at.run('clerk', rows({ ...unverified, ...planted }), { apply: true, accept: ['all'] })
    expect(report.problems).toContainEqual(expect.objectContaining({ name: 'proved-here', level: 'note', count: 1, examples: ['h1'] }))
    expect([report.kinds['factors']?.new ?? 0, report.kinds['passwords']?.found ?? 0]).toEqual([0, 0])
    expect((await at.signIn('hal@example.com', 'mine is another one')).user?.id).toBe('h1')
    expect((await at.signIn('hal@example.com')).user).toBeUndefined()
  })

  it('two users of one address, and rows without an id, are reported', async () => {
    const file = [clerk('one', 'twice@example.com'), clerk('two', 'TWICE@example.com'), '{"first_name":"nobody"}'].join('\n')
    const look = await at.run('clerk', [file])
    expect(look.problems.map(({ name, count }) => [name, count])).toEqual(
      expect.arrayContaining([
        ['bad-rows', 1],
        ['users-refused', 1],
      ]),
    )
    await at.run('clerk', [file], { apply: true, accept: ['all'] })
    expect([(await at.adapter.getUserByEmail('twice@example.com'))?.id, await at.adapter.getUser('two')]).toEqual(['one', null])
  })

  it('a password that was changed here, and one that was revoked here, stay as they are', async () => {
    const users = (digest: string) =>
      [clerk('p1', 'p1@example.com', { password_digest: digest }), clerk('p2', 'p2@example.com', { password_digest: digest })].join('\n')
    await at.run('clerk', [users(bcryptOf('the first password'))], { apply: true, accept: ['all'] })
    const { client } = await at.signIn('p1@example.com', 'the first password')
    await client.post('/passwords/change', { current: 'the first password', password: 'chosen by its owner' })
    const gone: string[] = []
    await at.auth.use({
      name: 'revokes',
      setup: (kernel) =>
        void kernel.on('signIn', async ({ ctx }) => {
          for (const { id, userId } of (await ctx.records('password').find({ limit: 100 })).rows)
            if (userId === 'p2') gone.push(String(await ctx.records('password').delete(id)))
        }),
    })
    await at.signIn('p1@example.com', 'chosen by its owner')
    expect(gone).toEqual(['true'])
    const second = await at.run('clerk', [users(bcryptOf('the second password'))], { apply: true, accept: ['all'] })
    expect(second.kinds['passwords']).toMatchObject({ conflict: 2, refreshed: 0, new: 0 })
    expect((await at.signIn('p1@example.com', 'chosen by its owner')).user?.id).toBe('p1')
    expect([
      (await at.signIn('p1@example.com', 'the second password')).user,
      (await at.signIn('p2@example.com', 'the second password')).user,
    ]).toEqual([undefined, undefined])
  })

  it('a ban is lifted when the source lifts it, and one that was set here stays', async () => {
    const users = (banned: boolean) =>
      [clerk('b1', 'b1@example.com', { banned }), clerk('b2', 'b2@example.com', { banned: false })].join('\n')
    const api = (banned: boolean) =>
      JSON.stringify({
        object: 'user',
        id: 'b1',
        email_addresses: [{ id: 'e', email_address: 'b1@example.com', verification: { status: 'verified' } }],
        banned,
      })
    await at.run('clerk', [users(true), api(true)], { apply: true, accept: ['all'] })
    expect((await at.signIn('b1@example.com')).user).toBeUndefined()
    await at.run('clerk', [users(false), api(false)], { apply: true, accept: ['all'] })
    expect((await at.signIn('b1@example.com')).user?.id).toBe('b1')
  })

  it('a phone number of two users goes to one of them, and the run goes on', async () => {
    const files = [['n1', 'n2'].map((id) => clerk(id, `${id}@example.com`, { verified_phone_numbers: '+4915123456780' })).join('\n')]
    const { kinds } = await at.run('clerk', files, { apply: true, accept: ['all'] })
    expect(kinds).toMatchObject({ users: { new: 2 }, passwords: { new: 2 }, phones: { new: 1, conflict: 1 } })
  })

  it('organizations come with their members, and a phone number that was verified', async () => {
    const created_at = 1_700_000_000_000
    const users = ['o1', 'o2'].map((id) => clerk(id, `${id}@example.com`, id === 'o1' ? { verified_phone_numbers: '+4915123456789' } : {}))
    const organization = { object: 'organization', id: 'org_1', name: 'Acme', slug: 'acme', created_at }
    const member = (user_id: string, role: string) => ({
      object: 'organization_membership',
      organization: { id: 'org_1' },
      public_user_data: { user_id },
      role,
      created_at,
    })
    const rest = [organization, member('o1', 'org:admin'), member('o2', 'org:member'), member('unknown', 'org:member')]
    const files = [users.join('\n'), rest.map((row) => JSON.stringify(row)).join('\n')]
    expect((await at.run('clerk', files)).refused).toEqual(['members'])
    const { kinds } = await at.run('clerk', files, { apply: true, accept: ['members'] })
    expect(kinds).toMatchObject({ organizations: { new: 1 }, members: { new: 2 }, phones: { new: 1 } })
    const { members } = await at.auth.organizations.members({ system: true }, 'org_1')
    expect(members.map(({ userId, role }) => [userId, role]).toSorted()).toEqual([
      ['o1', 'owner'],
      ['o2', 'member'],
    ])
    expect((await at.adapter.getUserByAccount({ provider: 'phone', providerAccountId: '+4915123456789' }))?.id).toBe('o1')
    const again = await at.run('clerk', files, { apply: true, accept: ['members'] })
    expect(again.kinds).toMatchObject({
      organizations: { new: 0, unchanged: 1 },
      members: { new: 0, unchanged: 2 },
      phones: { unchanged: 1 },
    })
    const alone = await at.run('clerk', [JSON.stringify(member('o2', 'org:admin'))], { apply: true, accept: ['all'] })
    expect(alone.kinds).toMatchObject({ members: { refreshed: 1 } })
  })
})
