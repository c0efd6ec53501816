/** Notices by mail: a new browser, and ways to sign in that come and go. */
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { type NoticesOptions, noticesPlugin } from 'authkernel/plugins/notices'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { describe, expect, it } from 'vitest'
import { LocalOp } from '../rows/_op.ts'
import { baseConfig, Client } from '../_setup.ts'
import { Authenticator, type CreationOptions } from './_authenticator.ts'
import { settle } from '../_settle.ts'

const ada = 'ada@example.com'

async function world(strategy: 'jwt' | 'database', options: NoticesOptions = {}, more: readonly Plugin<never>[] = []) {
  const base = baseConfig({
    origin: 'http://localhost:3000',
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    throttle: false,
    experimental: { enableWebAuthn: true },
  })
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(codesPlugin({ via: email() }))
    .use(oidcPlugin({ ...op.provider('oidc', 'bank'), name: 'The Bank', trustEmail: true } as never))
    .use(webauthnPlugin())
    .use(accountsPlugin())
    .use(apiKeysPlugin())
    .use(noticesPlugin(options))
  for (const plugin of more) auth.use(plugin)
  await auth.ready({ warm: true })
  const signIn = async (client = new Client(auth), headers: Record<string, string> = {}) => {
    await client.post('/signin/codes', { email: ada })
    await settle()
    const code = /^\s*(\d{6})\s*$/m.exec(mails.findLast(({ text }) => /^\s*\d{6}\s*$/m.test(text))!.text)![1]!
    await client.post('/callback/codes', { code }, { 'user-agent': 'Firefox/140', ...headers })
    await settle()
    return client
  }
  const bank = async (client: Client) => {
    op.person = { ...op.person, sub: 'ada', email: ada, email_verified: true } as never
    const started = await client.post('/signin/bank')
    await client.get(await op.authorize(started.headers.get('location')!))
    await settle()
  }
  const addPasskey = async (client: Client) => {
    const key = new Authenticator('http://localhost:3000')
    const answer = await client.get(`/webauthn-options/passkey?action=register&email=${ada}`)
    const { options: given } = (await answer.json()) as { options: CreationOptions }
    await client.post('/callback/passkey', { action: 'register', data: key.create(given) })
    await settle()
  }
  const subjects = () => mails.map(({ subject }) => subject).filter((subject) => !subject.includes('code'))
  return { auth, adapter, mails, signIn, bank, addPasskey, subjects }
}

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('a new browser is told once, and never to a new user', async () => {
    const { mails, signIn, subjects } = await world(strategy)
    const first = await signIn()
    expect(subjects()).toEqual([])
    await signIn(first)
    expect(subjects()).toEqual([])
    const second = await signIn()
    expect(subjects()).toEqual(['New sign-in at localhost:3000'])
    expect(mails.at(-1)).toMatchObject({
      to: ada,
      text: expect.stringContaining('Firefox/140'),
      html: expect.stringContaining('/auth/account'),
    })
    await signIn(second)
    expect(subjects()).toHaveLength(1)
  })

  it('a passkey, a connected account and an API key are told; what a new user begins with is not', async () => {
    const { auth, adapter, signIn, bank, addPasskey, subjects } = await world(strategy)
    const client = await signIn()
    await addPasskey(client)
    expect(subjects()).toEqual(['A passkey was added at localhost:3000'])
    await bank(client)
    expect(subjects().slice(1)).toEqual(['The Bank was connected at localhost:3000'])
    const userId = (await adapter.getUserByEmail!(ada))!.id
    const accounts = await auth.accounts.list({ userId })
    await auth.accounts.unlink(
      { userId },
      accounts.find(({ provider }) => provider === 'passkey')!,
    )
    await auth.accounts.unlink(
      { userId },
      accounts.find(({ provider }) => provider === 'bank')!,
      { last: true },
    )
    await settle()
    expect(subjects().slice(2).sort()).toEqual(['A passkey was removed at localhost:3000', 'The Bank was disconnected at localhost:3000'])
    await auth.apiKeys.create({ userId }, { name: 'deploy', scopes: [] } as never)
    await settle()
    expect(subjects().at(-1)).toBe('An API key was made at localhost:3000')
    const { bank: registers, subjects: told } = await world(strategy)
    await registers(new Client(auth))
    expect(told()).toEqual([])
  })
})

it('speaks five languages', async () => {
  for (const [lang, subject] of [
    ['de', 'Neue Anmeldung bei localhost:3000'],
    ['fr', 'Nouvelle connexion à localhost:3000'],
    ['es', 'Nuevo inicio de sesión en localhost:3000'],
    ['ja', 'localhost:3000 への新しいサインイン'],
  ] as const) {
    const { mails, signIn } = await world('database')
    await signIn()
    await signIn(undefined, { 'accept-language': lang })
    expect(mails.at(-1)).toMatchObject({ subject, html: expect.stringContaining(`lang="${lang}"`) })
  }
})

it('deviceSessionsPlugin tells a new browser by itself, so there is one mail', async () => {
  const { signIn, subjects } = await world('database', {}, [deviceSessionsPlugin() as Plugin<never>])
  await signIn()
  await signIn()
  expect(subjects()).toEqual(['New sign-in at localhost:3000'])
})

it('`about` chooses, and an unknown notice is refused', async () => {
  const { signIn, subjects } = await world('database', { about: ['passkeyAdded'] })
  await signIn()
  await signIn()
  expect(subjects()).toEqual([])
  expect(() => noticesPlugin({ about: ['everything' as never] })).toThrow('"everything". Known are newDevice')
})
