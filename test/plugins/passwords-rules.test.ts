/** Which passwords may be chosen, and when a chosen one is stored. */
import { createAuth } from 'authkernel'
import type { AuthConfig, MailMessage } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { type PasswordsOptions, passwordsPlugin } from 'authkernel/plugins/passwords'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { settle } from '../_settle.ts'

async function world(options: PasswordsOptions = {}, config: AuthConfig = {}) {
  const mails: MailMessage[] = []
  const adapter = memoryAdapter()
  const auth = createAuth(baseConfig({ session: { strategy: 'database' }, ...config }))
    .use(adapterPlugin(adapter))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) })
    .use(passwordsPlugin({ breached: false, ...options }))
  await auth.ready({ warm: true })
  const signUp = (email: string, password: string) => new Client(auth).post('/passwords/sign-up', { email, password })
  const token = async () => {
    await expect.poll(() => mails.length).toBeGreaterThan(0)
    return /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]!
  }
  return { auth, adapter, signUp, token }
}

describe('`minLength`', () => {
  it.each([
    [undefined, 'only fourteen!', 400],
    [undefined, 'quite fifteen!!', 302],
    [8, 'sevenQ!', 400],
    [8, 'tulip#42', 302],
    [20, 'nineteen purple ott', 400],
  ])('%s: the answer to "%s" is %i', async (minLength, password, status) => {
    const { signUp } = await world(minLength === undefined ? {} : { minLength })
    expect((await signUp('ada@example.com', password)).status).toBe(status)
  })

  it('is what the page says, in every language', async () => {
    const { auth } = await world({ minLength: 12 })
    for (const lang of ['en', 'de', 'fr', 'es', 'ja']) {
      const client = new Client(auth)
      const page = await (
        await client.post('/passwords/sign-up', { email: 'ada@example.com', password: 'short' }, { 'accept-language': lang })
      ).text()
      expect(page).toMatch(/role="alert"[\s\S]*?12/)
      expect(page).toContain('data-password-tools="12"')
    }
  })

  it.each([7, 65, 10.5, '8'])('%s is refused', (minLength) => {
    expect(() => passwordsPlugin({ minLength: minLength as number })).toThrow('`minLength` must be a whole number from 8 to 64')
  })
})

it.each([
  ['jo.li.an.max@my.own.me', 'jo.li.an.max@my.own.me'],
  ['jo.li.an.max@my.own.me', 'JO.LI.AN.MAX@MY.OWN.ME'],
  ['jo.li.an.max@my.own.me', '!jo.li.an.max@my.own.me2026'],
  ['a-very.long.name.of.mine@b.example', 'a-very.long.name.of.mine'],
  ['ab.cd.ef.gh.ij@b.example', 'ab.cd.ef.gh.ij2026!'],
])('the address %s makes the password %s too easy', async (email, password) => {
  const { signUp } = await world()
  expect((await signUp(email, password)).status).toBe(400)
})

it('a `signIn` callback that answers a URL stores no password of a reset', async () => {
  const { auth, adapter, token } = await world({}, { callbacks: { signIn: () => '/waiting-list' } })
  await adapter.createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: null })
  const client = new Client(auth)
  await client.post('/passwords/reset', { email: 'ada@example.com' })
  const answer = await client.post('/passwords/new', { token: await token(), password: 'seven purple otters sing' })
  await settle()
  expect(answer.headers.get('location')).toContain('/waiting-list')
  expect(await auth.passwords.has({ userId: 'ada' })).toBe(false)
})
