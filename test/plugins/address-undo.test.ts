/** Taking back a change of address: nothing that was added since opens the account. */
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { addressPlugin } from 'authkernel/plugins/address'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { expect, it, vi } from 'vitest'
import { totpAt } from '../_totp.ts'
import { baseConfig, Client } from '../_setup.ts'

const [ada, fresh] = ['ada@example.com', 'ada@new.example']

async function world(strategy: 'jwt' | 'database') {
  const base = baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) }, throttle: false })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const data = memoryData()
  const adapter = memoryAdapter(data)
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(codesPlugin({ via: email() }))
    .use(passwordsPlugin({ breached: false }))
    .use(twoFactorPlugin())
    .use(apiKeysPlugin())
    .use(addressPlugin())
  await auth.ready({ warm: true })
  const next = async (to: string, pattern: RegExp): Promise<string> => {
    const found = () => mails.findLast((mail) => mail.to === to && pattern.test(mail.text))
    await vi.waitFor(() => expect(found()).toBeDefined(), { timeout: 5000, interval: 2 })
    const text = found()!.text
    mails.length = 0
    return pattern.exec(text)![1]!
  }
  const signIn = async (address: string, client = new Client(auth)) => {
    await client.post('/signin/codes', { email: address })
    await client.post('/callback/codes', { code: await next(address, /^\s*(\d{6})\s*$/m) })
    return client
  }
  const { runtime } = base
  return { auth, adapter, data, next, signIn, runtime }
}

it.each(['jwt', 'database'] as const)('%s sessions: what the thief added is gone, what the owner had stays', async (strategy) => {
  const { auth, adapter, next, signIn, runtime } = await world(strategy)
  const owner = await signIn(ada)
  const user = (await adapter.getUserByEmail(ada))!
  await adapter.linkAccount({ userId: user.id, provider: 'bank', providerAccountId: 'ada', type: 'oidc' })
  const passkey = {
    userId: user.id,
    counter: 0,
    credentialPublicKey: 'pQ==',
    credentialDeviceType: 'singleDevice',
    credentialBackedUp: false,
  }
  await adapter.createAuthenticator({ ...passkey, credentialID: 'own', providerAccountId: 'own' })
  const mine = await auth.apiKeys.create({ userId: user.id }, { name: 'mine' })

  // The thief has this session.
  runtime.advance(10_000)
  await owner.post('/account/address', { email: fresh })
  await owner.post('/account/address/confirm', { token: await next(fresh, /confirm\?token=([\w.-]+)/) })
  expect((await adapter.getUserByEmail(fresh))?.id).toBe(user.id)
  const undo = await next(ada, /undo\?token=([\w.-]+)/)
  runtime.advance(10_000)
  await owner.post('/passwords/change', { password: 'the thief waits in here' })
  expect(await auth.passwords.has({ userId: user.id })).toBe(true)
  const page = await (await owner.post('/two-factor/setup', { action: 'totp' })).text()
  const [secret, id] = [/<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', ''), /name="id" value="([^"]+)"/.exec(page)![1]!]
  await owner.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, runtime.now()) })
  expect((await auth.twoFactor.list({ userId: user.id })).length).toBe(1)
  await adapter.linkAccount({ userId: user.id, provider: 'bank', providerAccountId: 'thief', type: 'oidc' })
  await adapter.createAuthenticator({ ...passkey, credentialID: 'thief', providerAccountId: 'thief' })
  const theirs = await auth.apiKeys.create({ userId: user.id }, { name: 'theirs' })
  // And a user with the former address, so that it cannot come back.
  await adapter.createUser({ id: 'squatter', email: ada, emailVerified: null })

  runtime.advance(10_000)
  expect((await new Client(auth).post('/account/address/undo', { token: undo })).status).toBeLessThan(400)
  expect([(await adapter.getUserByEmail(ada))?.id, (await adapter.getUser('squatter'))?.email]).toEqual([user.id, null])
  expect(await owner.session()).toBeNull()
  expect(await auth.passwords.has({ userId: user.id })).toBe(false)
  expect((await adapter.listAccountsByUserId(user.id)).map(({ providerAccountId }) => providerAccountId)).toEqual(['ada'])
  expect((await adapter.listAuthenticatorsByUserId(user.id)).map(({ credentialID }) => credentialID)).toEqual(['own'])
  expect((await auth.apiKeys.list({ userId: user.id })).map(({ name }) => name)).toEqual(['mine'])
  expect([mine, theirs]).toHaveLength(2)
  // No factor of the thief stands between the owner and the account.
  expect((await (await signIn(ada)).session())?.user?.email).toBe(ada)
  // It counts once.
  expect((await new Client(auth).post('/account/address/undo', { token: undo })).status).toBe(400)
})
