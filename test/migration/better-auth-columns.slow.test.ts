/** An app of better-auth whose tables and columns have other names: all of it is found, and what `schema` does not say is an error, never "0 found". */
import { createAuth } from 'authkernel'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type BetterAuthSchema, betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { mailPlugin } from 'authkernel/plugins/mail'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { phonePlugin } from 'authkernel/plugins/phone'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import passkey from 'authkernel/providers/passkey'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stores } from './_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { Authenticator, type CreationOptions } from '../plugins/_authenticator.ts'
import { totpAt } from '../_totp.ts'
import { type FormerApp, startFormerApp } from './_former-app.ts'

interface App {
  handler(request: Request): Promise<Response>
}
type Models = NonNullable<BetterAuthSchema['models']>

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const password = 'seven purple otters sing'
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }
const plural: Models = {
  user: { modelName: 'users' },
  session: { modelName: 'sessions' },
  account: { modelName: 'accounts' },
  twoFactor: { modelName: 'two_factors' },
  organization: { modelName: 'organizations' },
  member: { modelName: 'members' },
  invitation: { modelName: 'invitations' },
  apikey: { modelName: 'api_keys' },
  passkey: { modelName: 'passkeys' },
}
const whole: BetterAuthSchema = { casing: 'snake', models: plural }
const without = (model: keyof Models): BetterAuthSchema => {
  const { [model]: _left, ...models } = plural
  return { casing: 'snake', models }
}
/** One column is said to be one that is not there, as if the app had renamed it and `schema` did not say so. */
const mistaking = (model: keyof Models, field: string): BetterAuthSchema => ({
  casing: 'snake',
  models: { ...plural, [model]: { ...plural[model], fields: { [field]: `${field}_of_before` } } },
})

describe.each(stores)('better-auth 1.7.25 with tables and columns under other names, on %s', (store) => {
  let former: FormerApp<App> | undefined
  let before: App
  let db: Kysely<object>
  let annId = ''
  let totpSecret = ''
  let apiKey = ''

  const startAfter = (schema: BetterAuthSchema, passkeys = true) => {
    const adapter = sqlAdapter(db, { names: betterAuthNames({ ...schema, passkeys }) })
    const auth = createAuth({
      adapter,
      secret,
      origin,
      basePath: '/api/auth',
      env: false,
      logger: quiet,
      experimental: { enableWebAuthn: true },
      providers: [passkey()],
    })
      .use(betterAuthCompatPlugin({ db, schema }))
      .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
      .use(usernamesPlugin())
      .use(twoFactorPlugin())
      .use(adminPlugin({ can: () => false }))
      .use(organizationsPlugin())
      .use(apiKeysPlugin())
      .use(phonePlugin({ send: () => {} }))
      .use(mailPlugin({ transport: { send: () => {} } }))
    return { auth, adapter }
  }
  const browser = (app: App): Client => new Client({ handler: (request) => app.handler(request) }, { origin, basePath: '/api/auth' })
  const json = async (who: Client, path: string, fields: object): Promise<Response> => {
    const response = await who.request('POST', path, {
      body: JSON.stringify(fields),
      headers: { 'content-type': 'application/json', origin },
    })
    expect([path, response.status]).toEqual([path, 200])
    return response
  }

  beforeAll(async () => {
    former = await startFormerApp<App>({ name: 'better-auth-columns', line: '1.7', version: '1.7.25', store, setting: { origin, secret } })
    before = former.app
    db = former.db
    const [ann, bob] = [browser(before), browser(before)]
    const made = await json(ann, '/sign-up/email', { name: 'ann', email: 'ann@example.com', password, username: 'ann_smith' })
    annId = ((await made.json()) as { user: { id: string } }).user.id
    const other = await json(bob, '/sign-up/email', { name: 'bob', email: 'bob@example.com', password, username: 'bob_smith' })
    const bobId = ((await other.json()) as { user: { id: string } }).user.id
    const yes = store === 'libsql' ? 1 : true
    await sql`update users set email_verified = ${yes}`.execute(db)
    await sql`update users set phone_number = '+4915123456789', phone_number_verified = ${yes}, role = 'admin' where id = ${annId}`.execute(
      db,
    )
    const { totpURI } = (await (await json(ann, '/two-factor/enable', { password })).json()) as { totpURI: string }
    totpSecret = new URL(totpURI).searchParams.get('secret') ?? ''
    await json(ann, '/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()) })
    const { id } = (await (await json(ann, '/organization/create', { name: 'Acme', slug: 'acme' })).json()) as { id: string }
    await json(ann, '/organization/invite-member', { email: 'dora@example.com', role: 'member', organizationId: id })
    apiKey = ((await (await json(ann, '/api-key/create', { name: 'deploy' })).json()) as { key: string }).key
    const key = new Authenticator(origin)
    const options = (await (await ann.get('/passkey/generate-register-options')).json()) as CreationOptions
    await json(ann, '/passkey/verify-registration', { response: JSON.parse(key.create(options)) as object, name: 'Phone' })
    await json(ann, '/admin/ban-user', { userId: bobId, banReason: 'spam' })
  }, 120_000)
  afterAll(async () => {
    await former?.close()
  })

  it.each([
    ['the second factor of a user', mistaking('user', 'twoFactorEnabled'), /The table users has no column twoFactorEnabled_of_before/],
    ['a ban', mistaking('user', 'banned'), /The table users has no column banned_of_before/],
    ['the end of a ban', mistaking('user', 'banExpires'), /has no column banExpires_of_before/],
    ['a verified number', mistaking('user', 'phoneNumberVerified'), /has no column phoneNumberVerified_of_before/],
    ['a username', mistaking('user', 'username'), /has no column username_of_before/],
    ['a key that is switched off', mistaking('apikey', 'enabled'), /The table api_keys has no column enabled_of_before/],
    ['the end of a key', mistaking('apikey', 'expiresAt'), /has no column expiresAt_of_before/],
    ['the owner of a key', mistaking('apikey', 'referenceId'), /has no column referenceId_of_before/],
    ['the role of an invitation', mistaking('invitation', 'role'), /The table invitations has no column role_of_before/],
  ])('%s: a column under a name that `schema` does not say is an error with both names', async (_what, schema, message) => {
    const { auth } = startAfter(schema)
    await expect(auth.betterAuth.takeOver()).rejects.toThrow(message)
    await expect(auth.betterAuth.takeOver({ apply: true, accept: ['all'] })).rejects.toThrow(message)
    await expect(auth.betterAuth.compare()).rejects.toThrow(message)
  })

  it.each([
    ['twoFactor', 'table-two-factors', ['factors-missing']],
    ['organization', 'table-organizations', ['organizations-missing']],
    ['member', 'table-members', ['members-missing']],
    ['invitation', 'table-invitations', []],
    ['apikey', 'table-api-keys', []],
    ['passkey', 'table-passkeys', []],
  ] as const)('%s: a table under a name that `schema` does not say stops the move', async (model, name, others) => {
    const { auth } = startAfter(without(model))
    const { refused, problems } = await auth.betterAuth.takeOver()
    expect(refused).toEqual(expect.arrayContaining([name, ...others]))
    const table = plural[model]!.modelName!
    expect(problems.find((problem) => problem.name === name)).toMatchObject({ level: 'loss', count: 1 })
    expect(problems.find((problem) => problem.name === name)?.message).toContain(`{ models: { ${model}: { modelName: "${table}" } } }`)
  })

  it('passkeys that the adapter does not read stop the move', async () => {
    const { problems, refused } = await startAfter(whole, false).auth.betterAuth.takeOver()
    expect(refused).toEqual(['passkeys'])
    expect(problems.find(({ name }) => name === 'passkeys')).toMatchObject({ level: 'loss', count: 1 })
    expect(problems.find(({ name }) => name === 'passkeys')?.message).toContain('betterAuthNames({ passkeys: true })')
  })

  it('rows whose users are not found stop the move', async () => {
    // As if the ids of users were in another column.
    const { refused } = await startAfter(mistakingOwners).auth.betterAuth.takeOver()
    expect(refused).toEqual(expect.arrayContaining(['passwords-unread', 'factors-missing']))
  })
  const mistakingOwners: BetterAuthSchema = {
    casing: 'snake',
    models: {
      ...plural,
      account: { ...plural.account, fields: { userId: 'id' } },
      twoFactor: { ...plural.twoFactor, fields: { userId: 'id' } },
    },
  }

  it('with the whole schema everything is found, taken, and works', async () => {
    const { auth, adapter } = startAfter(whole)
    const dry = await auth.betterAuth.takeOver()
    expect(dry.refused).toEqual([])
    expect(Object.fromEntries(Object.entries(dry.kinds).map(([kind, { found, new: fresh }]) => [kind, [found, fresh]]))).toEqual({
      passwords: [2, 2],
      factors: [1, 1],
      bans: [1, 1],
      'user-names': [2, 2],
      'phone-numbers': [1, 1],
      organizations: [1, 1],
      members: [1, 1],
      invitations: [1, 1],
      'api-keys': [1, 1],
    })
    expect(dry.problems.find(({ name }) => name === 'passkeys')).toMatchObject({ level: 'note', count: 1 })
    await auth.ready().catch(() => {})
    await adapter.migrate({ apply: true })
    expect(await auth.betterAuth.takeOver({ apply: true })).toMatchObject({ applied: true })
    expect((await auth.betterAuth.compare()).filter(({ there, taken }) => there > taken)).toEqual([])
    const who = browser(auth)
    const fields = { csrfToken: await who.csrfToken(), email: 'ann@example.com', password, callbackUrl: '/' }
    expect(locationOf(await who.post('/callback/passwords', fields))).toContain('/two-factor')
    await who.post('/two-factor', { csrfToken: await who.csrfToken(), code: totpAt(totpSecret, Date.now()) })
    expect((await who.session())?.user).toMatchObject({ id: annId })
    const bob = browser(auth)
    await bob.post('/callback/passwords', { csrfToken: await bob.csrfToken(), email: 'bob@example.com', password, callbackUrl: '/' })
    expect(await bob.session()).toBeNull()
    expect((await auth.session(new Request(origin, { headers: { 'x-api-key': apiKey } })))?.user?.id).toBe(annId)
  })

  it('an open invitation that has ended is none that waits', async () => {
    const { auth } = startAfter(whole)
    const past = store === 'libsql' ? '2020-01-01T00:00:00.000Z' : new Date('2020-01-01')
    await sql`update invitations set expires_at = ${past}`.execute(db)
    await auth.betterAuth.takeOver({ apply: true })
    expect((await auth.betterAuth.compare()).find(({ kind }) => kind === 'invitations')).toMatchObject({ there: 0 })
  })
})
