/** A server with passwords over memory, and what its users do. */
import { createAuth } from 'authkernel'
import type { Adapter, AdapterUser, Auth, AuthConfig, Awaitable, MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { type PasswordsApi, type PasswordsOptions, passwordsPlugin } from 'authkernel/plugins/passwords'
import { baseConfig, Client } from '../_setup.ts'
import { settle } from '../_settle.ts'

export const good = 'seven purple otters sing'
export const other = 'nine yellow llamas dance'
export const ada = 'ada@example.com'

interface World {
  auth: Auth<PasswordsApi>
  adapter: Adapter
  mails: MailMessage[]
  runtime: ReturnType<typeof baseConfig>['runtime']
  signIn(
    password: string,
    email?: string,
    client?: Client,
  ): Promise<{ client: Client; response: Response; session: Awaited<ReturnType<Client['session']>> }>
  signUp(password?: string, email?: string, client?: Client): Promise<{ client: Client; response: Response; token: string }>
  user(email?: string, id?: string, emailVerified?: Date | null): Awaitable<AdapterUser>
  own(password?: string): Promise<Client>
  reset(client?: Client, email?: string): Promise<{ client: Client; token: string }>
  settle: typeof settle
}

export async function world(options: PasswordsOptions = {}, config: AuthConfig = {}): Promise<World> {
  const base = baseConfig({ session: { strategy: 'database' }, ...config })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const data = memoryData()
  const adapter = memoryAdapter(data)
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(passwordsPlugin({ breached: false, ...options }))
  await auth.ready({ warm: true })
  const token = async (before: number): Promise<string> => {
    // Mails leave after the answer, and a busy machine takes its time.
    for (let turns = 0; turns < 25 && mails.length === before; turns++) await settle()
    return /token=([0-9a-f]{64})/.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  }
  const signIn = async (password: string, email = ada, client = new Client(auth)) => {
    const response = await client.post('/callback/passwords', { email, password, callbackUrl: '/app' })
    return { client, response, session: await client.session() }
  }
  const signUp = async (password = good, email = ada, client = new Client(auth)) => {
    const before = mails.length
    const response = await client.post('/passwords/sign-up', { email, password })
    return { client, response, token: await token(before) }
  }
  const user = (email = ada, id = 'ada', emailVerified: Date | null = new Date()) => adapter.createUser!({ id, email, emailVerified })
  const own = async (password = good) => {
    const { client, token: link } = await signUp(password)
    await client.post('/passwords/confirm', { token: link })
    return client
  }
  const reset = async (client = new Client(auth), email = ada) => {
    const before = mails.length
    await client.post('/passwords/reset', { email })
    return { client, token: await token(before) }
  }
  return { auth, adapter, mails, runtime: base.runtime, signIn, signUp, user, own, reset, settle }
}

export const where = (response: Response): string => new URL(response.headers.get('location') ?? '/none', 'http://localhost:3000').pathname
