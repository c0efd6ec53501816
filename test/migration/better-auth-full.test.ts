/** better-auth with its plugins, and the same app after the move: what was banned stays banned, what existed exists, and a later run takes what changed. */
import { createAuth } from 'authkernel'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { betterAuthCompatPlugin, betterAuthInvitationToken, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { mailPlugin } from 'authkernel/plugins/mail'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { phonePlugin } from 'authkernel/plugins/phone'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stores } from './_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { totpAt } from '../_totp.ts'
import { type FormerApp, startFormerApp } from './_former-app.ts'

interface App {
  handler(request: Request): Promise<Response>
  api: { addMember(options: { body: { userId: string; role: string; organizationId: string } }): Promise<unknown> }
}
type Name = 'ann' | 'bob' | 'cleo' | 'dora' | 'eli' | 'mallory'

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const passwords: Record<Name, string> = {
  ann: 'seven purple otters sing',
  bob: 'eight green lizards walk',
  cleo: 'nine yellow llamas dance',
  dora: 'four silver ravens wait',
  eli: 'five bronze foxes rest here',
  mallory: 'the attacker waits here',
}
const changed = 'ten crimson herons fly away'
const versions = [...stores.map((store) => ['1.7', '1.7.25', store] as const), ['1.6', '1.6.34', 'libsql'] as const]
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }

describe.each(versions)('better-auth %s (%s) with its plugins on %s', (line, version, store) => {
  const mails: string[] = []
  const texts: string[] = []
  const ids = {} as Record<Name, string>
  const browsers = {} as Record<Name, Client>
  const keys = {} as Record<'ann' | 'bob' | 'mallory', string>
  let former: FormerApp<App> | undefined
  let before: App
  let db: Kysely<object>
  let after: ReturnType<typeof startAfter>
  let organizationId: string
  let teamId: string
  let invitationId: string
  let totpSecret = ''

  const startAfter = () => {
    const adapter = sqlAdapter(db, { names: betterAuthNames() })
    const auth = createAuth({ adapter, secret, origin, basePath: '/api/auth', env: false, logger: quiet })
      .use(betterAuthCompatPlugin({ db }))
      .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false, minLength: 15 }))
      .use(usernamesPlugin())
      .use(twoFactorPlugin())
      .use(adminPlugin({ can: ({ admin }) => (admin as { role?: string }).role === 'admin' }))
      .use(organizationsPlugin())
      .use(apiKeysPlugin())
      .use(phonePlugin({ send: ({ code }) => void texts.push(String(code)) }))
      .use(mailPlugin({ transport: { send: ({ text }) => void mails.push(text) } }))
    return { auth, adapter, handler: (request: Request) => auth.handler(request) }
  }

  beforeAll(async () => {
    former = await startFormerApp<App>({ name: 'better-auth-full', line, version, store, setting: { origin, secret } })
    before = former.app
    db = former.db
    for (const name of ['ann', 'bob', 'cleo', 'dora', 'eli', 'mallory'] as const) await signUp(name)
    await setUser('ann', sql`role = 'admin', plan = 'gold'`)
    for (const name of ['ann', 'bob', 'cleo', 'dora', 'eli'] as const)
      await setUser(name, sql`"emailVerified" = ${store === 'libsql' ? 1 : true}`)
    await setUser('dora', sql`"phoneNumber" = '+4915123456789', "phoneNumberVerified" = ${store === 'libsql' ? 1 : true}`)
    await enrol()
    const { ann } = browsers
    organizationId = ((await (await json(ann, '/organization/create', { name: 'Acme', slug: 'acme' })).json()) as { id: string }).id
    await before.api.addMember({ body: { userId: ids.bob, role: 'member', organizationId } })
    await before.api.addMember({ body: { userId: ids.cleo, role: 'admin', organizationId } })
    teamId = ((await (await json(ann, '/organization/create-team', { name: 'Builders', organizationId })).json()) as { id: string }).id
    await json(ann, '/organization/add-team-member', { teamId, userId: ids.bob })
    const invited = await json(ann, '/organization/invite-member', { email: 'dora@example.com', role: 'member', organizationId })
    invitationId = ((await invited.json()) as { id: string }).id
    for (const name of ['ann', 'bob', 'mallory'] as const)
      keys[name] = ((await (await json(browsers[name], '/api-key/create', { name: `key of ${name}` })).json()) as { key: string }).key
    const ban = { userId: ids.bob, banReason: 'spam in the forum', banExpiresIn: 30 * 86_400 }
    expect((await json(ann, '/admin/ban-user', ban)).status).toBe(200)
    after = startAfter()
    await after.auth.ready().catch(() => {})
  }, 120_000)
  afterAll(async () => {
    await after?.auth.close()
    await former?.close()
  })

  const browser = (app: { handler(request: Request): Promise<Response> }, other?: Client): Client => {
    const fresh = new Client({ handler: (request) => app.handler(request) }, { origin, basePath: '/api/auth' })
    for (const [name, value] of other?.cookies ?? []) fresh.cookies.set(name, value)
    return fresh
  }
  const json = (who: Client, path: string, fields: object): Promise<Response> =>
    who.request('POST', path, { body: JSON.stringify(fields), headers: { 'content-type': 'application/json', origin } })
  const setUser = (name: Name, change: ReturnType<typeof sql>) => sql`update "user" set ${change} where id = ${ids[name]}`.execute(db)
  async function signUp(name: Name): Promise<void> {
    browsers[name] = browser(before)
    const fields = { name, email: `${name}@example.com`, password: passwords[name], username: `${name}_smith` }
    const response = await json(browsers[name], '/sign-up/email', fields)
    expect(response.status).toBe(200)
    ids[name] = ((await response.json()) as { user: { id: string } }).user.id
  }
  async function enrol(): Promise<void> {
    const { totpURI } = (await (await json(browsers.eli, '/two-factor/enable', { password: passwords.eli })).json()) as { totpURI: string }
    totpSecret = new URL(totpURI).searchParams.get('secret') ?? ''
    expect((await json(browsers.eli, '/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()) })).status).toBe(200)
  }
  /** Whether a code of the secret is the second factor of eli. */
  async function isFactor(of: string): Promise<boolean> {
    const who = browser(after)
    const fields = { csrfToken: await who.csrfToken(), email: 'eli@example.com', password: passwords.eli, callbackUrl: '/' }
    expect(locationOf(await who.post('/callback/passwords', fields))).toContain('/two-factor')
    await who.post('/two-factor', { csrfToken: await who.csrfToken(), code: totpAt(of, Date.now()) })
    return ((await who.session())?.user as { id?: string } | undefined)?.id === ids.eli
  }
  async function signIn(email: string, password: string): Promise<string | undefined> {
    const who = browser(after)
    await who.post('/callback/passwords', { csrfToken: await who.csrfToken(), email, password, callbackUrl: '/' })
    return ((await who.session())?.user as { id?: string } | undefined)?.id
  }
  const byKey = async (key: string): Promise<string | undefined> =>
    (await after.auth.session(new Request(origin, { headers: { 'x-api-key': key } })))?.user?.id
  const all = { apply: true, accept: ['api-keys-refused'] }

  it('the dry run counts everything, names what would be lost, and nothing is written until that is accepted', async () => {
    const report = await after.auth.betterAuth.takeOver()
    const counts = Object.fromEntries(Object.entries(report.kinds).map(([kind, { found, new: fresh }]) => [kind, [found, fresh]]))
    expect(counts).toEqual({
      passwords: [6, 6],
      factors: [1, 1],
      bans: [1, 1],
      'user-names': [6, 6],
      'phone-numbers': [1, 1],
      organizations: [1, 1],
      teams: [2, 2],
      members: [3, 3],
      'team-members': expect.anything(),
      invitations: [1, 1],
      'api-keys': [3, 2],
    })
    expect(report.refused).toEqual(['api-keys-refused'])
    const problems = Object.fromEntries(report.problems.map(({ name, examples }) => [name, examples]))
    expect(problems).toMatchObject({
      unverified: ['mallory@example.com'],
      roles: ['ann@example.com (admin)'],
      columns: ['plan'],
      'short-passwords': [],
      'api-keys-refused': [expect.stringMatching(/^[0-9a-f]{64}$/)],
    })
    expect(Object.fromEntries(report.problems.map(({ name, count }) => [name, count]))).toMatchObject({
      'short-passwords': 6,
      sessions: report.sessions,
    })
    expect(report.sessions).toBe(5)
    await after.adapter.migrate({ apply: true })
    expect(await after.auth.betterAuth.takeOver({ apply: true })).toMatchObject({ applied: false, refused: ['api-keys-refused'] })
    expect(await signIn('ann@example.com', passwords.ann)).toBeUndefined()
    expect((await after.auth.betterAuth.compare()).find(({ kind }) => kind === 'passwords')).toEqual({
      kind: 'passwords',
      there: 6,
      taken: 0,
    })
    const done = await after.auth.betterAuth.takeOver(all)
    expect(done).toMatchObject({ applied: true, before: { passwords: 0, members: 0 }, after: { passwords: 6, members: 3, bans: 1 } })
    expect(done.problems.filter(({ name }) => name.endsWith('-counts'))).toEqual([])
    expect((await after.auth.betterAuth.compare()).filter(({ there, taken }) => there > taken)).toEqual([])
  })

  it('passwords, usernames, roles and columns of the app go on', async () => {
    expect(await signIn('ann@example.com', passwords.ann)).toBe(ids.ann)
    expect(await signIn('ann_smith', passwords.ann)).toBe(ids.ann)
    expect(await after.adapter.getUser(ids.ann)).toMatchObject({ role: 'admin', plan: 'gold' })
  })

  it('a password that better-auth never let in is parked', async () => {
    const sent = mails.length
    expect(await signIn('mallory@example.com', passwords.mallory)).toBeUndefined()
    await expect.poll(() => mails.length).toBe(sent + 1)
  })

  it('a verified phone number signs in', async () => {
    const who = browser(after)
    await who.post('/signin/phone', { csrfToken: await who.csrfToken(), phone: '+49 151 23456789' })
    await expect.poll(() => texts.length).toBe(1)
    await who.post('/callback/phone', { csrfToken: await who.csrfToken(), code: texts[0]! })
    expect(((await who.session())?.user as { id?: string } | undefined)?.id).toBe(ids.dora)
  })

  it('a factor that was set up anew there is the one that counts, and one that was switched off there is gone', async () => {
    const first = totpSecret
    const off = () => json(browsers.eli, '/two-factor/disable', { password: passwords.eli })
    expect((await off()).status).toBe(200)
    await enrol()
    const { kinds } = await after.auth.betterAuth.takeOver(all)
    expect(kinds['factors']).toMatchObject({ refreshed: 1, conflict: 0 })
    expect([await isFactor(first), await isFactor(totpSecret)]).toEqual([false, true])
    expect((await off()).status).toBe(200)
    expect((await after.auth.betterAuth.takeOver(all)).kinds['factors']).toMatchObject({ removed: 1 })
    expect(await signIn('eli@example.com', passwords.eli)).toBe(ids.eli)
  })

  it('a ban stays, with its reason and its end', async () => {
    expect(await signIn('bob@example.com', passwords.bob)).toBeUndefined()
    const { ban } = (await after.auth.admin.get({ userId: ids.ann }, ids.bob))!
    expect(ban).toMatchObject({ reason: 'spam in the forum', by: 'better-auth' })
    expect(Math.abs(ban!.until!.getTime() - Date.now() - 30 * 86_400_000)).toBeLessThan(600_000)
  })

  it('organizations have their ids, slugs, members, roles and teams', async () => {
    const { organizations } = after.auth
    expect(await organizations.list({ userId: ids.ann })).toMatchObject([{ id: organizationId, slug: 'acme', role: 'owner' }])
    const { members } = await organizations.members({ userId: ids.ann }, organizationId)
    expect(Object.fromEntries(members.map(({ userId, role }) => [userId, role]))).toEqual({
      [ids.ann]: 'owner',
      [ids.bob]: 'member',
      [ids.cleo]: 'admin',
    })
    const rights = { user: { id: ids.cleo }, expires: '2099-01-01T00:00:00.000Z' }
    expect(await after.auth.can(rights, 'member:remove', { organization: organizationId })).toBe(true)
  })

  it('an invitation that better-auth mailed is accepted by its address', async () => {
    const open = async (who: Client, id: string): Promise<string> => {
      await who.get(`/organizations/invitation?token=${await betterAuthInvitationToken(id)}`)
      return (await who.get('/organizations/invitation')).text()
    }
    const dora = browser(after, browsers.dora)
    expect(await open(dora, 'another id')).not.toContain('Acme')
    expect(await open(dora, invitationId)).toContain('Acme')
    await dora.post('/organizations', { csrfToken: await dora.csrfToken(), action: 'accept' })
    expect(await after.auth.organizations.list({ userId: ids.dora })).toMatchObject([{ id: organizationId, role: 'member' }])
  })

  it('the same API keys sign in, those of an unverified or banned owner do not, and one that is revoked here stays revoked', async () => {
    expect(await byKey(keys.ann)).toBe(ids.ann)
    expect(await byKey(keys.bob)).toBeUndefined()
    expect(await byKey(keys.mallory)).toBeUndefined()
    expect(await byKey(`${keys.ann}x`)).toBeUndefined()
    const [key] = await after.auth.apiKeys.list({ userId: ids.ann })
    await after.auth.apiKeys.revoke({ userId: ids.ann }, key!.id)
    expect(await byKey(keys.ann)).toBeUndefined()
    await setUser('mallory', sql`"emailVerified" = ${store === 'libsql' ? 1 : true}`)
    const { kinds } = await after.auth.betterAuth.takeOver(all)
    expect(kinds['api-keys']).toMatchObject({ found: 3, kept: 2, unchanged: 1 })
    expect([await byKey(keys.ann), await byKey(keys.mallory)]).toEqual([undefined, undefined])
    // The owner may be another user than the one who chose the password: it stays parked.
    expect(kinds['passwords']).toMatchObject({ refreshed: 0, conflict: 0 })
    expect(await signIn('mallory@example.com', passwords.mallory)).toBeUndefined()
  })

  it('a later run takes what changed there, also removals, and lists what changed on both sides', async () => {
    const { ann, cleo } = browsers
    await json(ann, '/admin/unban-user', { userId: ids.bob })
    await json(ann, '/organization/remove-member', { memberIdOrEmail: 'bob@example.com', organizationId })
    const changing = (who: Client, name: Name) =>
      json(who, '/change-password', { currentPassword: passwords[name], newPassword: changed, revokeOtherSessions: false })
    expect((await changing(cleo, 'cleo')).status).toBe(200)
    const first = await after.auth.betterAuth.takeOver(all)
    expect(first.kinds['passwords']).toMatchObject({ refreshed: 1, conflict: 0 })
    expect(first.kinds['bans']).toMatchObject({ removed: 1 })
    expect(first.kinds['members']).toMatchObject({ removed: 1 })
    expect([await signIn('cleo@example.com', passwords.cleo), await signIn('cleo@example.com', changed)]).toEqual([undefined, ids.cleo])
    expect(await signIn('bob@example.com', passwords.bob)).toBe(ids.bob)

    // Reset here, and then again there: the run does not choose.
    const who = browser(after)
    const sent = mails.length
    await who.post('/passwords/reset', { csrfToken: await who.csrfToken(), email: 'bob@example.com' })
    await expect.poll(() => mails.slice(sent).join()).toMatch(/token=[0-9a-f]{64}/)
    const token = /token=([0-9a-f]{64})/.exec(mails.slice(sent).join())![1]!
    expect(
      locationOf(await who.post('/passwords/new', { csrfToken: await who.csrfToken(), token, password: 'mine is another one' })),
    ).not.toContain('error')
    expect((await after.auth.betterAuth.takeOver(all)).kinds['passwords']).toMatchObject({ conflict: 0 })
    const { rows } = await sql<{ password: string }>`select password from account where "userId" = ${ids.cleo}`.execute(db)
    await sql`update account set password = ${rows[0]!.password} where "userId" = ${ids.bob}`.execute(db)
    expect(await after.auth.betterAuth.takeOver(all)).toMatchObject({ applied: false, refused: ['passwords-conflicts'] })
    await after.auth.betterAuth.takeOver({ ...all, conflicts: 'here' })
    expect(await signIn('bob@example.com', 'mine is another one')).toBe(ids.bob)
    expect(await after.auth.betterAuth.takeOver(all)).toMatchObject({ applied: true, refused: [] })
  })
})
