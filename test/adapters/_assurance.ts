/** A host with every way to sign in and every second factor, on any adapter; and people who use them. */
import { type AuthConfig, createAuth } from 'authkernel'
import { type Adapter, type MailMessage, type Plugin, providerPlugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { type CodeMessage, phonePlugin } from 'authkernel/plugins/phone'
import { emailCode, passkey, totp, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import securityKey from 'authkernel/providers/webauthn'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { Authenticator, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { LocalOp } from '../rows/_op.ts'
import { door } from './_door.ts'

const origin = 'http://localhost:3000'
const password = 'seven purple otters sing'

/** A person: an address, a number, keys and an account elsewhere. */
export interface Person {
  address: string
  phones: string[]
  name: string
  id: string
  /** Signs in with it, and is the second factor: two different keys. */
  door: Authenticator
  second: Authenticator
  secret: string
  codes: string[]
}

/** What a test uses of the host. */
export interface Assurance {
  auth: { handler(request: Request): Promise<Response>; close(): Promise<void> }
  methods: Record<string, Method>
  factors: Record<'totp' | 'passkey' | 'backup' | 'emailCode', Step>
  /** Answers once the user has every way in. */
  join(person: Person): Promise<Client>
  enrol(client: Client, person: Person): Promise<void>
  /** Moves the clock: codes of an app count once, and mails are limited. */
  advance(ms: number): void
  newPerson(at: number): Person
  errors: Error[]
}
type Step = (client: Client, person: Person) => Promise<Response>
/** A way to sign in. `proves`: two factors by itself. `channel`: the factor that it rules out. */
export interface Method {
  come: Step
  proves?: true
  channel?: 'emailCode' | 'passkey'
}

export async function assuranceHost(adapter: Adapter, strategy: 'jwt' | 'database'): Promise<Assurance> {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    throttle: false,
    experimental: { enableWebAuthn: true },
  })
  // Stores that expire entries by themselves look at the real clock.
  let ahead = 0
  base.runtime.now = () => Date.now() + ahead
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const [mails, texts]: [MailMessage[], CodeMessage[]] = [[], []]
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const auth = createAuth({
    ...base,
    providers: [
      { id: 'credentials', name: 'Name', type: 'credentials', authorize: ({ id, email: address }) => ({ id, email: address }) },
      {
        id: 'mail',
        name: 'Mail',
        type: 'email',
        from: 'a@b.example',
        sendVerificationRequest: ({ identifier, url }) => void mails.push({ to: identifier, text: url } as never),
      },
    ],
  } as AuthConfig)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(providerPlugin({ type: 'door', flow: door, defaults: { id: 'door', name: 'Door' } })({}) as Plugin)
    .use(oidcPlugin({ ...op.provider('oidc', 'oidc'), trustEmail: true } as never))
    .use(oidcPlugin({ ...op.provider('oidc', 'strong'), trustEmail: true, trustAssurance: { amr: ['mfa'] } } as never))
    .use(oauthPlugin({ ...op.provider('oauth', 'oauth'), trustEmail: true } as never))
    .use(passwordsPlugin({ breached: false }))
    .use(usernamesPlugin())
    .use(codesPlugin({ via: email() }))
    .use(phonePlugin({ send: (message) => void texts.push(message) }))
    .use(webauthnPlugin(securityKey({ verifyAuthenticationOptions: { requireUserVerification: false } }) as never))
    .use(twoFactorPlugin({ factors: [totp(), passkey(), emailCode()] }))
  await auth.ready()

  const said = async (to: string, pattern: RegExp): Promise<string> => {
    for (let tries = 0; tries < 400; tries++) {
      const found = pattern.exec(mails.findLast((mail) => mail.to === to && pattern.test(mail.text))?.text ?? '')?.[1]
      if (found) return (forget(to), found)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error(`No mail to ${to} has ${pattern}.`)
  }
  const forget = (to: string): void => {
    for (let at = mails.length - 1; at >= 0; at--) if (mails[at]!.to === to) mails.splice(at, 1)
  }
  const atProvider = async (client: Client, person: Person, id: string, more: object = {}): Promise<Response> => {
    const started = await client.post(`/signin/${id}`, {})
    op.person = { sub: `${id} ${person.address}`, email: person.address, email_verified: true, ...more } as never
    return client.get(op.authorize(started.headers.get('location')!))
  }
  // A number gets three messages in ten minutes: each sign-in uses another one.
  const byText: Step = async (client, { phones }) => {
    const phone = phones.shift()!
    await client.post('/signin/phone', { phone })
    for (let tries = 0; tries < 400 && !texts.some(({ to }) => to === phone); tries++)
      await new Promise((resolve) => setTimeout(resolve, 5))
    const at = texts.findIndex(({ to }) => to === phone)
    return client.post('/callback/phone', { code: texts.splice(at, 1)[0]!.code! })
  }
  const ceremony = async (client: Client, action: 'register' | 'authenticate', person: Person, verified: boolean) => {
    const query = action === 'register' ? `?action=register&email=${encodeURIComponent(person.address)}` : '?action=authenticate'
    const { options } = (await (await client.get(`/webauthn-options/webauthn${query}`)).json()) as {
      options: CreationOptions & RequestOptions
    }
    const data = action === 'register' ? person.door.create(options, { verified }) : person.door.get(options, { verified })
    return client.post('/callback/webauthn', { action, data })
  }
  const code = async (client: Client, { address }: Person): Promise<Response> => {
    await client.post('/signin/codes', { email: address })
    return client.post('/callback/codes', { code: await said(address, /^\s*(\d{6})\s*$/m) })
  }

  const methods: Assurance['methods'] = {
    credentials: { come: (client, { id, address }) => client.post('/callback/credentials', { id, email: address }) },
    password: { come: (client, { address }) => client.post('/callback/passwords', { email: address, password }) },
    'username and password': { come: (client, { name }) => client.post('/callback/passwords', { email: name, password }) },
    'code by mail': { come: code, channel: 'emailCode' },
    'link beside the code': {
      come: async (client, { address }) => {
        await new Client(auth).post('/signin/codes', { email: address })
        return client.post('/callback/codes', { token: await said(address, /codes\?token=([0-9a-f]{64})/) })
      },
      channel: 'emailCode',
    },
    'mailed link': {
      come: async (client, { address }) => {
        await client.post('/signin/mail', { email: address })
        return client.get(await said(address, /(http:\S*callback\/mail\S*)/))
      },
      channel: 'emailCode',
    },
    'code by text message': { come: byText },
    'OpenID Provider': { come: (client, person) => atProvider(client, person, 'oidc') },
    'OpenID Provider that says mfa, trusted': {
      come: (client, person) => atProvider(client, person, 'strong', { amr: ['pwd', 'otp', 'mfa'] }),
      proves: true,
    },
    'OpenID Provider that says mfa, not trusted': { come: (client, person) => atProvider(client, person, 'oidc', { amr: ['pwd', 'mfa'] }) },
    'trusted OpenID Provider without amr': { come: (client, person) => atProvider(client, person, 'strong') },
    'OAuth provider': { come: (client, person) => atProvider(client, person, 'oauth') },
    'type of a stranger': { come: (client, { address }) => client.post('/callback/door', { card: address }) },
    'passkey with user verification': { come: (client, person) => ceremony(client, 'authenticate', person, true), proves: true },
    'security key without user verification': {
      come: (client, person) => ceremony(client, 'authenticate', person, false),
      channel: 'passkey',
    },
  }

  /** A person with every way in, signed in in the browser that comes back. */
  const join = async (person: Person): Promise<Client> => {
    const client = new Client(auth)
    await code(client, person)
    person.id = (await adapter.getUserByEmail!(person.address))!.id
    for (const phone of person.phones)
      await adapter.linkAccount!({ userId: person.id, provider: 'phone', type: 'phone' as never, providerAccountId: phone })
    await ceremony(client, 'register', person, true)
    await client.post('/username', { username: person.name })
    for (const [provider, type] of [
      ['oidc', 'oidc'],
      ['strong', 'oidc'],
      ['oauth', 'oauth'],
      ['door', 'door'],
    ] as const) {
      const providerAccountId = type === 'door' ? person.address : `${provider} ${person.address}`
      await adapter.linkAccount!({ userId: person.id, provider, type: type as never, providerAccountId })
    }
    await new Client(auth).post('/passwords/reset', { email: person.address })
    await new Client(auth).post('/passwords/new', { token: await said(person.address, /new\?token=([0-9a-f]{64})/), password })
    // A new password ends sessions.
    const again = new Client(auth)
    await code(again, person)
    return again
  }

  /** Enrols every factor in a browser that is signed in. */
  const enrol = async (client: Client, person: Person): Promise<void> => {
    const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
    person.secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
    const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const done = await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(person.secret, base.runtime.now()) })
    person.codes = [...(await done.text()).matchAll(/<li><code>([A-Z2-9-]{11})<\/code>/g)].map(([, found]) => found!)
    const asked = (await (await client.get('/two-factor/passkey?purpose=add')).json()) as { options: CreationOptions }
    await client.post('/two-factor/setup', { action: 'register', data: person.second.create(asked.options) })
    await client.post('/two-factor/setup', { action: 'emailCode' })
    forget(person.address)
  }

  /** Proofs of a parked sign-in. */
  const factors: Assurance['factors'] = {
    totp: (client, { secret }) => client.post('/two-factor', { code: totpAt(secret, base.runtime.now()) }),
    backup: (client, { codes }) => client.post('/two-factor', { code: codes.pop()! }),
    async passkey(client, { second }) {
      const { options } = (await (await client.get('/two-factor/passkey?purpose=ask')).json()) as { options?: RequestOptions }
      const data = second.get(options ?? { challenge: 'none', rpId: 'localhost', userVerification: 'preferred', timeout: 0 })
      return client.post('/two-factor', { action: 'authenticate', data })
    },
    async emailCode(client, { address }) {
      const offered = (await (await client.get('/two-factor')).text()).includes('/two-factor/send')
      await client.post('/two-factor/send')
      const mailed = offered ? await said(address, /\b(\d{6})\b/) : '000000'
      return client.post('/two-factor', { code: mailed })
    },
  }
  const newPerson = (at: number): Person => ({
    address: `p${at}@example.com`,
    phones: [1, 2, 3, 4].map((each) => `+491512345${at}${each}00`),
    name: `person${String.fromCharCode(97 + at)}`,
    id: '',
    door: new Authenticator(origin),
    second: new Authenticator(origin),
    secret: '',
    codes: [],
  })
  return { auth, methods, factors, join, enrol, newPerson, advance: (ms) => void (ahead += ms), errors: base.logger.errors }
}
