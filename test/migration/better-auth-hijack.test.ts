/**
 * The pre-hijack attack across a move: an attacker registers the addresses of other users at better-auth 1.7.25 and adds every credential there is. Whatever proves
 * an address here, before or after the run that moves the user, leaves the attacker nothing.
 */
import { createAuth } from 'authkernel'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { mailPlugin } from 'authkernel/plugins/mail'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { phonePlugin } from 'authkernel/plugins/phone'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import passkey from 'authkernel/providers/passkey'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stores } from './_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'
import { Authenticator, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { sampleCases } from '../_tier.ts'
import { totpAt } from '../_totp.ts'
import { type FormerApp, startFormerApp } from './_former-app.ts'

interface App {
  handler(request: Request): Promise<Response>
}
/** What an attacker has at better-auth, in the user with the address of another user. */
interface Attack {
  name: string
  id: string
  browser: Client
  totpSecret: string
  key: string
  phone: Authenticator
  number: string
}

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const planted = 'the attacker waits here'
const chosen = 'seven purple otters sing'
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }
const ways = ['link', 'registration', 'reset', 'provider'] as const
type Way = (typeof ways)[number]
const moments = ['before the run', 'after the run', 'without a run'] as const
const cases = [false, true].flatMap((linked) => moments.flatMap((moved) => ways.map((way) => ({ way, moved, linked }))))

describe.each(stores)('an attacker who registered the address at better-auth 1.7.25 first, on %s', (store) => {
  const texts: string[] = []
  const mails: { to: string; text: string }[] = []
  const client = {
    client_id: 'app',
    client_secret: 'app-secret',
    redirect_uris: ['callback/acme', 'oauth2/callback/acme'].map((path) => `${origin}/api/auth/${path}`),
  }
  let former: FormerApp<App> | undefined
  let op: RealOp
  let before: App
  let db: Kysely<object>
  let after: ReturnType<typeof startAfter>

  const startAfter = () => {
    const adapter = sqlAdapter(db, { names: betterAuthNames({ passkeys: true }) })
    const acme = {
      id: 'acme',
      name: 'Acme',
      type: 'oidc' as const,
      issuer: op.issuer,
      clientId: client.client_id,
      clientSecret: client.client_secret,
      trustEmail: true,
    }
    const auth = createAuth({
      adapter,
      secret,
      origin,
      basePath: '/api/auth',
      env: false,
      throttle: false,
      logger: quiet,
      experimental: { enableWebAuthn: true },
      providers: [acme, passkey()],
    })
      .use(betterAuthCompatPlugin({ db }))
      .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
      .use(usernamesPlugin())
      .use(twoFactorPlugin())
      .use(phonePlugin({ send: () => {} }))
      .use(apiKeysPlugin())
      .use(codesPlugin({ via: email() }))
      .use(mailPlugin({ transport: { send: ({ to, text }) => void mails.push({ to: String(to), text }) } }))
    return { auth, adapter, handler: (request: Request) => auth.handler(request) }
  }

  beforeAll(async () => {
    op = await realOp([client], {
      findAccount: (_ctx: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, name: id, email: `${id}@example.com`, email_verified: true }),
      }),
    })
    const provider = { issuer: op.issuer, clientId: client.client_id, clientSecret: client.client_secret }
    former = await startFormerApp<App>({
      name: 'better-auth-hijack',
      line: '1.7',
      store,
      setting: { origin, secret, provider, texts, mails },
    })
    before = former.app
    db = former.db
    after = startAfter()
    await after.auth.ready().catch(() => {})
    await after.adapter.migrate({ apply: true })
  }, 120_000)
  afterAll(async () => {
    await after?.auth.close()
    await op.stop()
    await former?.close()
  })

  const browser = (app: App, other?: Client): Client => {
    const fresh = new Client({ handler: (request) => app.handler(request) }, { origin, basePath: '/api/auth' })
    for (const [name, value] of other?.cookies ?? []) fresh.cookies.set(name, value)
    return fresh
  }
  const ask = async (who: Client, path: string, fields: object): Promise<Record<string, unknown>> => {
    const response = await who.request('POST', path, {
      body: JSON.stringify(fields),
      headers: { 'content-type': 'application/json', origin },
    })
    const text = await response.text()
    expect(response.status, `${path}: ${text}`).toBe(200)
    return JSON.parse(text) as Record<string, unknown>
  }
  const idOf = async (who: Client): Promise<string | undefined> => ((await who.session())?.user as { id?: string } | undefined)?.id
  const idBefore = async (who: Client): Promise<string | undefined> =>
    ((await (await who.get('/get-session')).json()) as { user?: { id?: string } } | null)?.user?.id
  const holderOf = async (name: string): Promise<string | undefined> => (await after.adapter.getUserByEmail!(`${name}@example.com`))?.id
  const mailTo = async (name: string, pattern: RegExp): Promise<string> => {
    const text = (): string => mails.filter(({ to }) => to.includes(`${name}@`)).at(-1)?.text ?? ''
    await expect.poll(text).toMatch(pattern)
    const token = pattern.exec(text())![1]!
    mails.length = 0
    return token
  }
  const apply = () => after.auth.betterAuth.takeOver({ apply: true, accept: ['all'] })

  /** Registers the address of the victim with everything that better-auth offers. */
  async function attack(name: string, extent: 'all' | 'linked' | 'factor' = 'all'): Promise<Attack> {
    const who = browser(before)
    const { user } = await ask(who, '/sign-up/email', { name, email: `${name}@example.com`, password: planted, username: `${name}_n` })
    const phone = new Authenticator(origin)
    const number = `+49151${String(Date.now()).slice(-8)}`
    let key: unknown = ''
    if (extent !== 'factor') key = await addWays(who, phone, number)
    if (extent === 'linked') {
      const { url } = await ask(who, '/link-social', { provider: 'acme', callbackURL: '/' })
      expect(locationOf(await who.get(await op.visit(String(url), { login: `mallory-${name}` })))).not.toContain('error')
    }
    const { totpURI } = await ask(who, '/two-factor/enable', { password: planted })
    const totpSecret = new URL(String(totpURI)).searchParams.get('secret') ?? ''
    await ask(who, '/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()) })
    return { name, id: (user as { id: string }).id, browser: who, totpSecret, key: String(key), phone, number }
  }

  /** Passkey, API key and phone number: the text of the key. */
  async function addWays(who: Client, phone: Authenticator, number: string): Promise<unknown> {
    const options = (await (await who.get('/passkey/generate-register-options')).json()) as CreationOptions
    await ask(who, '/passkey/verify-registration', { response: JSON.parse(phone.create(options)) as object, name: 'Phone' })
    await ask(who, '/phone-number/send-otp', { phoneNumber: number })
    await ask(who, '/phone-number/verify', { phoneNumber: number, code: texts.at(-1), updatePhoneNumber: true })
    return (await ask(who, '/api-key/create', { name: 'key' }))['key']
  }

  /** The owner of the address proves it here. */
  const proofs: Record<Way, (name: string) => Promise<Client>> = {
    async link(name) {
      await browser(after).signIn('codes', { email: `${name}@example.com` })
      const owner = browser(after)
      const token = await mailTo(name, /codes\?token=([0-9a-f]{64})/)
      await owner.post('/callback/codes', { csrfToken: await owner.csrfToken(), token })
      return owner
    },
    async registration(name) {
      const owner = browser(after)
      await owner.post('/passwords/sign-up', { csrfToken: await owner.csrfToken(), email: `${name}@example.com`, password: chosen })
      const token = await mailTo(name, /confirm\?token=([0-9a-f]{64})/)
      await owner.post('/passwords/confirm', { csrfToken: await owner.csrfToken(), token })
      return owner
    },
    async reset(name) {
      const owner = browser(after)
      await owner.post('/passwords/reset', { csrfToken: await owner.csrfToken(), email: `${name}@example.com` })
      const token = await mailTo(name, /new\?token=([0-9a-f]{64})/)
      await owner.post('/passwords/new', { csrfToken: await owner.csrfToken(), token, password: chosen })
      return owner
    },
    async provider(name) {
      const owner = browser(after)
      const started = await owner.signIn('acme')
      await owner.get(await op.visit(locationOf(started), { login: name }))
      return owner
    },
  }

  /** Everything that the attacker can try here: whose sessions it gives. */
  async function tryAll({ name, browser: old, key, phone, number, totpSecret }: Attack): Promise<Record<string, string | undefined>> {
    const byPassword = async (typed: string): Promise<string | undefined> => {
      const who = browser(after)
      await who.post('/callback/passwords', { csrfToken: await who.csrfToken(), email: typed, password: planted })
      await who.post('/two-factor', { csrfToken: await who.csrfToken(), code: totpAt(totpSecret, Date.now()) })
      return idOf(who)
    }
    const byPasskey = async (): Promise<string | undefined> => {
      const who = browser(after)
      const { options } = (await (await who.get('/webauthn-options/passkey?action=authenticate')).json()) as { options: RequestOptions }
      await who.post('/callback/passkey', { csrfToken: await who.csrfToken(), action: 'authenticate', data: phone.get(options) })
      return idOf(who)
    }
    const byProvider = async (): Promise<string | undefined> => {
      const who = browser(after)
      await who.get(await op.visit(locationOf(await who.signIn('acme')), { login: `mallory-${name}` }))
      await who.post('/two-factor', { csrfToken: await who.csrfToken(), code: totpAt(totpSecret, Date.now()) })
      return idOf(who)
    }
    return {
      session: await idOf(browser(after, old)),
      password: await byPassword(`${name}@example.com`),
      userName: await byPassword(`${name}_n`),
      passkey: await byPasskey(),
      key: (await after.auth.session(new Request(origin, { headers: { 'x-api-key': key } })))?.user?.id,
      account: await byProvider(),
      number: (await after.adapter.getUserByAccount({ provider: 'phone', providerAccountId: number }))?.id,
    }
  }

  /** The owner is in, without a factor of the attacker, and the attacker is not. */
  async function expectFree(one: Attack, way: Way): Promise<void> {
    const owner = await proofs[way](one.name)
    const id = await holderOf(one.name)
    // A reset signs no user in by itself.
    if (way !== 'reset') expect(await idOf(owner)).toBe(id)
    expect((await after.adapter.getUser!(String(id)))?.emailVerified).toBeInstanceOf(Date)
    const check = async (): Promise<void> => {
      expect(Object.entries(await tryAll(one)).filter(([, who]) => who === id)).toEqual([])
      expect(await idOf(await proofs[way === 'provider' ? way : 'link'](one.name))).toBe(id)
      if (way !== 'registration' && way !== 'reset') return
      const again = browser(after)
      await again.post('/callback/passwords', { csrfToken: await again.csrfToken(), email: `${one.name}@example.com`, password: chosen })
      expect(await idOf(again)).toBe(id)
    }
    await check()
    await apply()
    await check()
    expect([await idBefore(browser(before, one.browser)), id]).not.toEqual([id, id])
  }

  it.each(sampleCases(cases, 5, Number(store === stores[0])))(
    'proves nothing: $way, $moved, linked: $linked',
    async ({ way, moved, linked }) => {
      if (moved === 'after the run') await apply()
      const one = await attack(`${way}${moved.replaceAll(' ', '')}${Number(linked)}`.slice(-24), linked ? 'linked' : 'all')
      if (moved === 'before the run') await apply()
      await expectFree(one, way)
    },
  )

  /** Right password, and the mail opened in the same browser. */
  async function openInSameBrowser(name: string, password: string): Promise<{ who: Client; place: string }> {
    const who = browser(after)
    const fields = { csrfToken: await who.csrfToken(), email: `${name}@example.com`, password, callbackUrl: '/' }
    expect(locationOf(await who.post('/callback/passwords', fields))).toContain('/passwords/mailed')
    const token = await mailTo(name, /confirm\?token=([0-9a-f]{64})/)
    return { who, place: locationOf(await who.post('/passwords/confirm', { csrfToken: await who.csrfToken(), token })) }
  }

  it('a user who knows the password and opens the mail in the same browser keeps the factor', async () => {
    const one = await attack('honest', 'factor')
    await apply()
    const { who, place } = await openInSameBrowser('honest', planted)
    expect([place, await idOf(who)]).toEqual([expect.stringContaining('/two-factor'), undefined])
    await who.post('/two-factor', { csrfToken: await who.csrfToken(), code: totpAt(one.totpSecret, Date.now()) })
    expect([await idOf(who), await holderOf('honest')]).toEqual([one.id, one.id])
    const again = browser(after)
    const fields = { csrfToken: await again.csrfToken(), email: 'honest@example.com', password: planted, callbackUrl: '/' }
    expect(locationOf(await again.post('/callback/passwords', fields))).toContain('/two-factor')
  })

  it('a password that the owner has reset at better-auth does not confirm what the attacker added', async () => {
    const one = await attack('reset')
    const owner = browser(before)
    await ask(owner, '/request-password-reset', { email: 'reset@example.com' })
    await ask(owner, '/reset-password', { newPassword: chosen, token: await mailTo('reset', /reset: (\S+)/) })
    await apply()
    const { who } = await openInSameBrowser('reset', chosen)
    const id = await holderOf('reset')
    expect(await idOf(who)).toBe(id)
    await apply()
    expect(Object.entries(await tryAll(one)).filter(([, found]) => found === id)).toEqual([])
  })
})
