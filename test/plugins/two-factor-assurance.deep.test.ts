/** What a second factor guards: the order of proofs, a reset by an administrator, and changes by sessions that proved too little. */
import bcrypt from 'bcryptjs'
import { createAuth } from 'authkernel'
import type { AuthConfig, MailMessage } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { addressPlugin } from 'authkernel/plugins/address'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { bcryptHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { emailCode, type Factor, passkey, totp, type TwoFactorOptions, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { settle } from '../_settle.ts'

const ada = 'ada@example.com'
const short = 'short one'
const good = 'seven purple otters sing'

async function world(options: TwoFactorOptions = {}, order: 'factorFirst' | 'passwordFirst' = 'factorFirst', config: AuthConfig = {}) {
  const base = baseConfig({ session: { strategy: 'database' }, throttle: false, ...config })
  const mails: MailMessage[] = []
  const adapter = memoryAdapter()
  const passwords = passwordsPlugin({ breached: false, verify: [bcryptHash()] })
  const twoFactor = twoFactorPlugin(options)
  const plain = createAuth(base)
    .use(adapterPlugin(adapter))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) })
    .use(codesPlugin({ via: email() }))
    .use(addressPlugin())
    .use(accountsPlugin())
    .use(stepUpPlugin())
  const auth = order === 'factorFirst' ? plain.use(twoFactor).use(passwords) : plain.use(passwords).use(twoFactor)
  await auth.ready({ warm: true })
  await adapter.createUser!({ id: 'ada', email: ada, emailVerified: new Date(0) })
  await auth.passwords.import([{ userId: 'ada', hash: bcrypt.hashSync(good, 4) }])
  const { runtime } = base
  const signIn = async (password = good, client = new Client(auth)) => ({
    client,
    response: await client.post('/callback/passwords', { email: ada, password, callbackUrl: '/app' }),
  })
  const mailed = async (): Promise<string> => {
    await settle()
    return /^\s*(\d{6})\s*$/m.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  }
  const enrol = async (client: Client) => {
    const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
    const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const done = await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, runtime.now()) })
    runtime.advance(30_000)
    return { secret, done: await done.text(), code: () => totpAt(secret, runtime.now()) }
  }
  const request = (client: Client) => new Request('http://localhost:3000/', { headers: { cookie: client.cookieHeader() } })
  return { auth, adapter, mails, runtime, signIn, mailed, enrol, request }
}

const where = (response: Response): string => new URL(response.headers.get('location') ?? 'http://none/', 'http://localhost:3000').pathname

describe.each(['factorFirst', 'passwordFirst'] as const)('a short password of a user with a factor, plugins used %s', (order) => {
  it('is replaced after the factor, never before it', async () => {
    const { auth, adapter, signIn, enrol } = await world({}, order)
    const { code } = await enrol((await signIn()).client)
    await adapter.createUser!({ id: 'bob', email: 'bob@example.com', emailVerified: new Date(0) })
    await auth.passwords.import([{ userId: 'bob', hash: bcrypt.hashSync(short, 4) }])
    const bob = new Client(auth)
    // Bob has a short one and no factor; Ada a long one and a factor; then Bob enrols.
    expect(where(await bob.post('/callback/passwords', { email: 'bob@example.com', password: short }))).toBe('/auth/passwords/longer')
    const { client, response } = await signIn()
    expect(where(response)).toBe('/auth/two-factor')
    expect(where(await client.post('/two-factor', { code: code() }))).toBe('/app')
  })

  it('a thief of the short password cannot choose another one without the factor', async () => {
    const { auth, signIn, enrol, runtime } = await world({}, order)
    const { code } = await enrol((await signIn()).client)
    // The imported hash of a short password takes the place of the long one.
    auth.use({
      name: 'swap',
      setup: (kernel) => ({
        swap: async () => {
          const job = await kernel.contextOf({ job: 'swap' })
          const rows = job.records('password')
          const { createHash } = await import('node:crypto')
          const id = createHash('sha256').update('ada').digest('hex')
          await rows.update(id, { hash: bcrypt.hashSync(short, 4), short: false })
        },
      }),
    })
    await (auth as unknown as { swap(): Promise<void> }).swap()
    runtime.advance(60_000)
    const { client, response } = await signIn(short)
    expect(where(response)).toBe('/auth/two-factor')
    expect(where(await client.post('/passwords/longer', { password: 'nine yellow llamas dance' }))).toBe('/auth/signin')
    expect(where(await client.post('/two-factor', { code: code() }))).toBe('/auth/passwords/longer')
    expect(await client.session()).toBeNull()
    expect(where(await client.post('/passwords/longer', { password: 'nine yellow llamas dance' }))).toBe('/app')
    expect((await client.session())?.user?.email).toBe(ada)
  })
})

describe('a reset by an administrator', () => {
  it('the next sign-in of a user who enrolled by choice proves the address and sets a factor up anew', async () => {
    const { auth, signIn, enrol, mailed, request, runtime } = await world()
    await enrol((await signIn()).client)
    await auth.twoFactor.reset({ userId: 'ada' }, { admin: { id: 'root' }, reason: 'phone lost' })
    const { client, response } = await signIn()
    expect([where(response), await client.session()]).toEqual(['/auth/two-factor/setup', null])
    // Without the code of the mail no factor is set up.
    expect(await (await client.post('/two-factor/setup', { action: 'totp' })).text()).not.toMatch(/<code>[A-Z2-7 ]{32,}/)
    await client.post('/two-factor/setup', { action: 'send' })
    await client.post('/two-factor/setup', { action: 'proof', code: await mailed() })
    await enrol(client)
    expect(await client.session()).toBeNull()
    expect(where(await client.post('/two-factor/setup', { action: 'continue' }))).toBe('/app')
    expect((await auth.twoFactor.list(request(client))).map(({ kind }) => kind)).toEqual(['totp'])
    runtime.advance(60_000)
    expect(where((await signIn()).response)).toBe('/auth/two-factor')
  })

  it('a sign-in by a mailed code proves the address by itself, and still sets up a factor', async () => {
    const { auth, signIn, enrol, mailed } = await world()
    await enrol((await signIn()).client)
    await auth.twoFactor.reset({ userId: 'ada' }, { admin: { id: 'root' }, reason: 'phone lost' })
    const client = new Client(auth)
    await client.post('/signin/codes', { email: ada, callbackUrl: '/app' })
    expect(where(await client.post('/callback/codes', { code: await mailed(), callbackUrl: '/app' }))).toBe('/auth/two-factor/setup')
    await enrol(client)
    expect(where(await client.post('/two-factor/setup', { action: 'continue' }))).toBe('/app')
  })
})

describe('fresh proof', () => {
  it('a code by mail removes no app from an old session of two factors', async () => {
    const { auth, signIn, enrol, mailed, mails, request, runtime } = await world({ factors: [totp(), emailCode()] })
    const { client } = await signIn()
    const { code } = await enrol(client)
    await client.post('/two-factor/setup', { action: 'emailCode' })
    runtime.advance(600_000)
    const [{ id } = { id: '' }] = (await auth.twoFactor.list(request(client))).filter(({ kind }) => kind === 'totp')
    expect(where(await client.post('/two-factor/setup', { action: 'remove', id }))).toBe('/auth/two-factor')
    const before = mails.length
    await client.post('/two-factor/send', {})
    expect(mails.length).toBe(before)
    await client.post('/two-factor', { code: await mailed() })
    expect(where(await client.post('/two-factor/setup', { action: 'remove', id }))).toBe('/auth/two-factor')
    expect((await auth.twoFactor.list(request(client))).map(({ kind }) => kind)).toContain('totp')
    await client.post('/two-factor', { code: code() })
    await client.post('/two-factor/setup', { action: 'remove', id })
    expect((await auth.twoFactor.list(request(client))).map(({ kind }) => kind)).not.toContain('totp')
  })

  it('the session of a trusted device changes no address, deletes nothing and satisfies no step-up without the factor', async () => {
    const { auth, adapter, signIn, enrol, request, runtime } = await world({ trustedDevices: true })
    const { code } = await enrol((await signIn()).client)
    const { client } = await signIn()
    await client.post('/two-factor', { code: code(), remember: 'on' })
    runtime.advance(3_600_000)
    expect(where((await signIn(good, client)).response)).toBe('/app')
    expect(where(await client.get('/account/address'))).toBe('/auth/two-factor')
    expect(where(await client.post('/account/address', { email: 'eve@example.com' }))).toBe('/auth/two-factor')
    expect(where(await client.post('/account/delete'))).toBe('/auth/two-factor')
    expect(await adapter.getUser!('ada')).not.toBeNull()
    expect(await auth.stepUp.holds(request(client))).toBe(false)
    const led = await client.post('/account/delete')
    const flow = new URL(led.headers.get('location')!).searchParams.get('flow')!
    await client.post('/two-factor', { code: code(), flow })
    expect(await auth.stepUp.holds(request(client), { level: 'mfa' })).toBe(true)
    expect((await client.get('/account/address')).status).toBe(200)
    await client.post('/account/delete')
    expect(await adapter.getUser!('ada')).toBeNull()
  })

  it('a class, a factor and a method are judged by their own times', async () => {
    const { auth, signIn, request, runtime } = await world()
    auth.use({
      name: 'prover',
      setup(kernel) {
        kernel.route({
          method: 'POST',
          path: '/prover/:what',
          async handler(ctx) {
            const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
            const proof = ctx.params['what'] === 'gold' ? { amr: ['fed'], acr: 'gold', factors: 2 as const } : { amr: ['email'] }
            return ctx.resume(login!, { proof })
          },
        })
      },
    })
    const { client } = await signIn()
    await client.post('/prover/gold')
    const gold = () => auth.stepUp.holds(request(client), { acr: ['gold'] })
    const mfa = () => auth.stepUp.holds(request(client), { level: 'mfa' })
    const any = () => auth.stepUp.holds(request(client))
    expect([await gold(), await mfa(), await any()]).toEqual([true, true, true])
    runtime.advance(400_000)
    expect([await gold(), await mfa(), await any()]).toEqual([false, false, false])
    await client.post('/prover/mail')
    expect([await gold(), await mfa(), await any()]).toEqual([false, false, true])
    expect(await auth.stepUp.holds(request(client), { acr: ['gold'], maxAge: 600 })).toBe(true)
  })

  it('what was proved before a wait is as old as it is', async () => {
    const seen: Record<string, number>[] = []
    const { auth, signIn, enrol, runtime } = await world()
    auth.on('signedIn', ({ session }) => void seen.push({ ...session!.attributes.methods, factors: session!.attributes.factorsTime ?? 0 }))
    const { code } = await enrol((await signIn()).client)
    const { client } = await signIn()
    runtime.advance(300_000)
    await client.post('/two-factor', { code: code() })
    const { pwd = 0, otp = 0, factors } = seen.at(-1)!
    expect([otp - pwd, factors]).toEqual([300, otp])
  })

  it.each([
    [{ level: 'MFA' }],
    [{ level: 1 }],
    [{ acr: 'gold' }],
    [{ acr: [] }],
    [{ acr: [''] }],
    [{ Level: 'mfa' }],
    [{ maxAge: '300' }],
    [{ as: 'json' }],
    [{ returnTo: '//evil.example' }],
  ])('a step-up of the wrong shape, %j, is an error and satisfied by nothing', async (demand) => {
    const { auth, signIn, request } = await world()
    const { client } = await signIn()
    await expect(auth.stepUp.require(request(client), demand as never)).rejects.toThrow(/^stepUp: /)
    await expect(auth.stepUp.holds(request(client), demand as never)).rejects.toThrow(/^stepUp: /)
  })
})

describe('users who must have a factor', () => {
  it('two tabs that remove one factor each leave one', async () => {
    const must = { value: false }
    const { auth, signIn, enrol, request } = await world({ required: () => must.value })
    const { client } = await signIn()
    await enrol(client)
    await enrol(client)
    const two = await auth.twoFactor.list(request(client))
    expect(two).toHaveLength(2)
    must.value = true
    const csrfToken = await client.csrfToken()
    const cookie = client.cookieHeader()
    const tab = (id: string) =>
      auth.handler(
        new Request('http://localhost:3000/auth/two-factor/setup', {
          method: 'POST',
          headers: { cookie },
          body: new URLSearchParams({ csrfToken, action: 'remove', id }),
        }),
      )
    await Promise.all(two.map(({ id }) => tab(id)))
    expect(await auth.twoFactor.list({ userId: 'ada' })).toHaveLength(1)
  })

  it.each([true, false])('whose only kind is no longer offered set up a new one at the next sign-in (required: %s)', async (must) => {
    const state = { required: false }
    const factors: Factor[] = [totp()]
    const { auth, signIn, enrol } = await world({ factors, required: () => state.required })
    await enrol((await signIn()).client)
    state.required = must
    factors.splice(0, 1, passkey())
    const { client, response } = await signIn()
    expect([where(response), await client.session()]).toEqual(['/auth/two-factor/setup', null])
    expect((await auth.twoFactor.list({ userId: 'ada' })).map(({ kind }) => kind)).toEqual(['totp'])
  })

  it('signing out everywhere ends trusted devices, also where no session is left', async () => {
    const { auth, signIn, enrol, runtime } = await world({ trustedDevices: true })
    const { code } = await enrol((await signIn()).client)
    const { client } = await signIn()
    await client.post('/two-factor', { code: code(), remember: 'on' })
    expect(where((await signIn(good, client)).response)).toBe('/app')
    await client.post('/signout')
    await auth.sessions.revokeAll({ userId: 'ada' })
    await auth.sessions.revokeAll({ userId: 'ada' })
    runtime.advance(60_000)
    expect(where((await signIn(good, client)).response)).toBe('/auth/two-factor')
  })

  it('an ending that could not end trusted devices fails, and its repetition ends them', async () => {
    const { auth, adapter, signIn, enrol, runtime } = await world({ trustedDevices: true })
    const { code } = await enrol((await signIn()).client)
    const { client } = await signIn()
    await client.post('/two-factor', { code: code(), remember: 'on' })
    const { records } = adapter
    const { deleteWhere } = records!
    adapter.records!.deleteWhere = (table, ...rest) => {
      if (table === 'twoFactorDevice') throw new Error('away')
      return deleteWhere.call(records, table, ...rest)
    }
    await expect(auth.sessions.revokeAll({ userId: 'ada' })).rejects.toMatchObject({ type: 'AdapterError' })
    adapter.records!.deleteWhere = deleteWhere
    await auth.sessions.revokeAll({ userId: 'ada' })
    runtime.advance(60_000)
    expect(where((await signIn(good, client)).response)).toBe('/auth/two-factor')
  })
})

it('sessions that cannot be ended are refused at the start: jwt without `revocable`', async () => {
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt' } }))
    .use(adapterPlugin(memoryAdapter()))
    .use(twoFactorPlugin())
  await expect(auth.ready()).rejects.toMatchObject({
    type: 'MissingSessionAbility',
    message: expect.stringMatching(/"two-factor".*session\.revocable: true/s) as string,
  })
})
