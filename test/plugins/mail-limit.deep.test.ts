/** How many mails one address gets: one count for links, codes, registrations, resets, factors and changes of the address. */
import { createAuth } from 'authkernel'
import type { Kernel, MailMessage } from 'authkernel/kernel'
import { mailWithinLimit } from 'authkernel/kernel/mail'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { addressPlugin } from 'authkernel/plugins/address'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { settle } from '../_settle.ts'

const ada = 'ada@example.com'
const password = 'seven purple otters sing'

async function world(required = false) {
  const mails: MailMessage[] = []
  const base = baseConfig({
    session: { strategy: 'database' },
    providers: [
      {
        id: 'mail',
        name: 'Mail',
        type: 'email',
        sendVerificationRequest: ({ identifier: to, url }: { identifier: string; url: string }) =>
          void mails.push({ to, subject: 'link', text: url } as MailMessage),
      } as never,
    ],
  })
  const adapter = memoryAdapter()
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) })
    .use(passwordsPlugin({ breached: false }))
    .use(codesPlugin({ via: email() }))
    .use(addressPlugin())
    .use(twoFactorPlugin({ required: () => required }))
  await auth.ready({ warm: true })
  const from = (clientAddress: string) => new Client({ handler: (request) => auth.handler(request, { clientAddress }) })
  const sent = async (to = ada) => (await settle(), mails.filter((mail) => mail.to === to).length)
  return { auth, adapter, mails, from, sent, runtime: base.runtime }
}

it('three go out in ten minutes and ten a day, whichever form asks, however the address is spelled, from however many networks', async () => {
  const { adapter, from, sent, runtime } = await world()
  await adapter.createUser!({ id: 'ada', email: ada, emailVerified: new Date(0) })
  let network = 0
  const forms: [string, Record<string, string>][] = [
    ['/passwords/reset', { email: ada }],
    ['/signin/codes', { email: 'ADA@example.com' }],
    ['/passwords/sign-up', { email: 'Ada@Example.com', password }],
    ['/signin/mail', { email: ada }],
  ]
  const round = async () => {
    for (const [path, fields] of forms) await from(`192.0.2.${++network}`).post(path, fields)
    await settle()
  }
  await round()
  expect(await sent()).toBe(3)
  for (let window = 0; window < 20; window++) {
    runtime.advance(601_000)
    await round()
  }
  expect(await sent()).toBe(10)
})

it('codes of forced enrolments count with the others: a stranger with the password cannot flood the mailbox', async () => {
  const { from, sent, mails, runtime } = await world(true)
  const owner = from('192.0.2.1')
  await owner.post('/passwords/sign-up', { email: ada, password })
  await sent()
  const token = /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]!
  await owner.post('/passwords/confirm', { token })
  const before = await sent()
  let network = 10
  for (let window = 0; window < 24; window++) {
    for (let flow = 0; flow < 4; flow++) {
      const thief = from(`198.51.100.${++network}`)
      await thief.post('/callback/passwords', { email: ada, password })
      await thief.post('/two-factor/setup', { action: 'send' })
    }
    runtime.advance(601_000)
  }
  // Registration and notices of the password have gone out already.
  expect((await sent()) - before).toBeLessThanOrEqual(10)
  expect(mails.filter(({ subject }) => /code/i.test(subject)).length).toBeLessThanOrEqual(9)
})

it('a browser in which the owner has signed in has a share of its own, for every kind of mail', async () => {
  const { adapter, from, sent, mails } = await world()
  const owner = from('192.0.2.1')
  await owner.post('/passwords/sign-up', { email: ada, password })
  await sent()
  await owner.post('/passwords/confirm', { token: /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]! })
  expect((await adapter.getUserByEmail!(ada))?.emailVerified).toBeInstanceOf(Date)
  for (let each = 0; each < 6; each++) await from(`198.51.100.${each + 1}`).post('/passwords/reset', { email: ada })
  const flooded = await sent()
  await owner.post('/passwords/reset', { email: ada })
  await owner.post('/signin/codes', { email: ada })
  await owner.post('/signin/mail', { email: ada })
  await owner.post('/passwords/reset', { email: ada })
  expect((await sent()) - flooded).toBe(3)
})

it('the new address of a change has the same count', async () => {
  const { from, sent, mails } = await world()
  const owner = from('192.0.2.1')
  await owner.post('/passwords/sign-up', { email: ada, password })
  await sent()
  await owner.post('/passwords/confirm', { token: /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]! })
  const other = 'bob@example.com'
  for (const form of ['/signin/codes', '/signin/mail', '/account/address', '/account/address', '/account/address'])
    await owner.post(form, { email: other })
  expect(await sent(other)).toBe(3)
})

it('a user who proved the first factor has a share of its own: strangers do not use it up, and thirty requests at once do not exceed it', async () => {
  const { auth, from, sent } = await world()
  let kernel: Kernel
  auth.use({ name: 'inside', setup: (own) => void (kernel = own) })
  for (let each = 0; each < 6; each++) await from(`198.51.100.${each + 1}`).post('/signin/mail', { email: ada })
  expect(await sent()).toBe(3)
  await auth.ready()
  const mail = async (provedBy?: string): Promise<boolean> => {
    const ctx = await kernel.contextOf(new Request('http://localhost:3000/'))
    return mailWithinLimit(ctx, ada, async () => true, provedBy === undefined ? {} : { provedBy })
  }
  expect(await mail()).toBe(false)
  const answers = await Promise.all(Array.from({ length: 30 }, () => mail('user:ada')))
  expect(answers.filter(Boolean)).toHaveLength(3)
  expect([await mail('user:ada'), await mail('user:bob')]).toEqual([false, true])
})
