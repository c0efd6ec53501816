/** An app with every sign-in method that makes users, and the visitors who try them. */
import { createAuth } from 'authkernel'
import type { AnyContext, Auth, AuthConfig, Context, Identity, Kernel, MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AdmissionApi, type AdmissionOptions, admissionPlugin } from 'authkernel/plugins/admission'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { emailPlugin } from 'authkernel/plugins/email'
import { guestPlugin } from 'authkernel/plugins/guest'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { phonePlugin } from 'authkernel/plugins/phone'
import passkey from 'authkernel/providers/passkey'
import { baseConfig, Client } from '../_setup.ts'
import { settle } from '../_settle.ts'
import { Authenticator } from './_authenticator.ts'

export const ada = 'ada@example.com'
export const system = { system: true } as const
export const good = 'seven purple otters sing'

export interface World {
  auth: Auth<AdmissionApi & OrganizationsApi>
  base: ReturnType<typeof baseConfig>
  adapter: ReturnType<typeof memoryAdapter>
  data: MemoryData
  mails: MailMessage[]
  texts: { code: string | undefined }[]
  /** What a refused visitor must not leave behind: users, accounts, sessions, mails, text messages. */
  left(): number[]
  /** A browser that has shown a code. */
  browser(code?: string): Promise<Client>
  rows(): Promise<AnyContext>
}

/** `order`: where the plugin stands among the others. `more`: further plugins. */
export async function world(
  options: AdmissionOptions = {},
  { config = {}, order = 'last', more = [] }: { config?: AuthConfig; order?: 'first' | 'last'; more?: readonly Plugin[] } = {},
): Promise<World> {
  const base = baseConfig({
    origin: 'http://localhost:3000',
    session: { strategy: 'database' },
    throttle: false,
    experimental: { enableWebAuthn: true },
    providers: [
      passkey(),
      { id: 'vendor', name: 'Vendor', type: 'vendor' } as never,
      {
        id: 'credentials',
        name: 'Name',
        type: 'credentials',
        authorize: ({ user }: Record<string, unknown>) => ({ id: String(user), name: String(user) }),
      },
    ],
    ...config,
  })
  const [mails, texts]: [MailMessage[], { code: string | undefined }[]] = [[], []]
  const data = memoryData()
  const adapter = memoryAdapter(data)
  let inside: Kernel | undefined
  const postbox: Plugin = {
    name: 'postbox',
    setup(kernel) {
      inside = kernel
      kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) })
      // A provider at which the visitor is whom the body says.
      kernel.providerType('vendor' as never, { finish: async (ctx: Context) => vendorIdentity(await ctx.body()) } as never)
    },
  }
  const admission = admissionPlugin(options)
  const others: Plugin[] = [
    codesPlugin({ via: email() }),
    passwordsPlugin({ breached: false }),
    phonePlugin({ send: (message) => void texts.push(message) }),
    guestPlugin(),
    organizationsPlugin(),
    emailPlugin({ from: 'no-reply@app.example', sendVerificationRequest: ({ url }) => void mails.push({ text: url } as MailMessage) }),
    ...more,
  ]
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(postbox)
  if (order === 'first') auth.use(admission)
  for (const plugin of others) auth.use(plugin)
  if (order === 'last') auth.use(admission)
  await auth.ready({ warm: true })
  const kernel = inside as Kernel
  const rows = () => kernel.contextOf({ job: 'test' })
  const left = () => [data.users.size, data.accounts.size, data.sessions.size, mails.length, texts.length]
  const browser = async (code?: string) => {
    const client = new Client(auth)
    if (code !== undefined) await client.post('/admission/invitation', { code })
    return client
  }
  return { auth: auth as unknown as World['auth'], base, adapter, data, mails, texts, left, browser, rows }
}

function vendorIdentity({ sub, email: address, verified }: Record<string, unknown>): Identity {
  return {
    user: { name: String(sub), email: address ? String(address) : null },
    account: { provider: 'vendor', providerAccountId: String(sub), type: 'vendor' as never },
    match: 'account',
    provesEmail: verified === '1',
    proof: { amr: [] },
  }
}

const codeOf = (mail: { text?: string } | undefined) => /^\s*(\d{6})\s*$/m.exec(mail?.text ?? '')?.[1] ?? ''
const pathOf = (mail: { text?: string } | undefined) => /https?:\/\/[^/]+\/auth(\/\S+)/.exec(mail?.text ?? '')?.[1] ?? '/none'

export type WayIn = 'code' | 'link' | 'password' | 'passkey' | 'phone' | 'vendor' | 'guest'

/** Every sign-in method that makes users. Each tries to sign `address` up with `client`; the answer is the last response. */
export const waysIn: Record<WayIn, (of: World, client: Client, address?: string) => Promise<Response>> = {
  async code({ mails }: World, client: Client, address = ada) {
    const asked = await client.post('/signin/codes', { email: address })
    for (let turns = 0; turns < 10 && mails.length === 0; turns++) await settle()
    return mails.length > 0 ? client.post('/callback/codes', { code: codeOf(mails.at(-1)) }) : asked
  },
  async link({ mails }: World, client: Client, address = ada) {
    const asked = await client.post('/signin/email', { email: address })
    await settle()
    return mails.length > 0 ? client.get(pathOf(mails.at(-1))) : asked
  },
  async password({ mails }: World, client: Client, address = ada) {
    const asked = await client.post('/passwords/sign-up', { email: address, password: good })
    for (let turns = 0; turns < 10 && mails.length === 0; turns++) await settle()
    const token = /token=([0-9a-f]{64})/.exec(mails.at(-1)?.text ?? '')?.[1]
    return token ? client.post('/passwords/confirm', { token }) : asked
  },
  async passkey(_world: World, client: Client, address = ada) {
    const key = new Authenticator(client.origin)
    const options = await client.get(`/webauthn-options/passkey?action=register&email=${encodeURIComponent(address)}`)
    if (options.status !== 200) return options
    const { options: wanted } = (await options.json()) as { options: never }
    return client.post('/callback/passkey', { action: 'register', data: key.create(wanted) }, { origin: client.origin })
  },
  async phone({ texts }: World, client: Client) {
    const asked = await client.post('/signin/phone', { phone: '+4915123456789' })
    await settle()
    return texts.length > 0 ? client.post('/callback/phone', { code: texts.at(-1)?.code ?? '' }) : asked
  },
  vendor: (_world: World, client: Client, address = ada) =>
    client.post('/callback/vendor', { sub: address, email: address, verified: '1' }),
  guest: (_world: World, client: Client) => client.post('/guest'),
}
/** The error code of a redirect. */
export const errorOf = (response: Response): string | null =>
  new URL(response.headers.get('location') ?? '/', 'http://localhost:3000').searchParams.get('error')
