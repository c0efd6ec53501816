/** Passwords that another service still has: asked once, stored as a hash of ours, and never believed about an address that nothing has verified. */
import { describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { type LegacyAnswer, type LegacyPasswords, passwordsPlugin } from 'authkernel/plugins/passwords'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { baseConfig, Client } from '../_setup.ts'

const [ada, right, wrong] = ['ada@example.com', 'seven purple otters sing', 'nine yellow llamas dance']
const where = (response: Response): string => new URL(response.headers.get('location') ?? '/none', 'http://localhost:3000').pathname

async function world({ verified = true, strategy = 'database' as 'database' | 'jwt' } = {}) {
  const base = baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } })
  const mails: MailMessage[] = []
  const asked: { name: string; user: string | undefined }[] = []
  const settled: string[] = []
  let answer: () => Promise<LegacyAnswer | null> | LegacyAnswer | null = () => ({ emailVerified: verified })
  const former: LegacyPasswords = {
    async check(_ctx, { name, user, password }) {
      asked.push({ name, user: user?.id })
      return password === right ? answer() : null
    },
    stopAsking: async (_ctx, userId) => void settled.push(userId),
  }
  const extras: Plugin = {
    name: 'extras',
    setup(kernel) {
      kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) })
      kernel.provide('legacyPasswords', former)
    },
  }
  const adapter = memoryAdapter()
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(extras)
    .use(passwordsPlugin({ breached: false }))
    .use(usernamesPlugin())
  await auth.ready()
  const user = (emailVerified: Date | null = new Date()) => adapter.createUser({ id: 'ada', email: ada, name: 'Ada', emailVerified })

  const signIn = async (password: string, name = ada, client = new Client(auth)) => {
    const response = await client.post('/callback/passwords', { email: name, password })
    return { client, response, place: where(response), user: (await client.session())?.user }
  }
  const confirm = async (client: Client): Promise<void> => {
    await vi.waitFor(() => expect(mails).not.toHaveLength(0), { timeout: 5000, interval: 2 })
    await client.post('/passwords/confirm', { token: /confirm\?token=([0-9a-f]{64})/.exec(mails.pop()!.text)![1]! })
  }
  return { auth, adapter, mails, asked, settled, user, signIn, confirm, reply: (next: typeof answer) => void (answer = next) }
}

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('a right password signs in, is stored here, and is asked about once', async () => {
    const { auth, user, signIn, asked, settled, mails } = await world({ strategy })
    await user()
    expect((await signIn(wrong)).user).toBeUndefined()
    expect((await signIn(right)).user?.email).toBe(ada)
    expect([await auth.passwords.has({ userId: 'ada' }), settled, asked.length]).toEqual([true, ['ada'], 2])
    expect([(await signIn(right)).user?.email, (await signIn(wrong)).user, asked.length, mails]).toEqual([ada, undefined, 2, []])
  })

  it('a username is asked about as the user who has it, and an unknown one is not', async () => {
    const { auth, user, signIn, asked } = await world({ strategy })
    await user()
    await auth.usernames.set({ userId: 'ada' }, 'ada_l')
    expect([(await signIn(right, 'ada_l')).user?.email, (await signIn(right, 'other_name')).user]).toEqual([ada, undefined])
    expect(asked).toEqual([{ name: 'ada_l', user: 'ada' }])
  })

  it('an unknown address whose former service has verified it becomes a user with this password', async () => {
    const { auth, adapter, signIn, asked, mails, reply } = await world({ strategy })
    reply(() => ({ emailVerified: true, name: 'Ada L' }))
    expect((await signIn(right)).user).toMatchObject({ email: ada, name: 'Ada L' })
    const made = await adapter.getUserByEmail(ada)
    expect([made?.emailVerified, await auth.passwords.has({ userId: made!.id })]).toEqual([expect.any(Date), true])
    expect([(await signIn(right)).user?.email, asked.length, mails]).toEqual([ada, 1, []])
  })

  it('an unknown address that was not verified there must be proved by a mail first', async () => {
    const { adapter, signIn, confirm } = await world({ strategy, verified: false })
    const { client, place, user } = await signIn(right)
    expect([place, user, await adapter.getUserByEmail(ada)]).toEqual(['/auth/passwords/mailed', undefined, null])
    await confirm(client)
    expect((await client.session())?.user?.email).toBe(ada)
    expect((await signIn(right)).user?.email).toBe(ada)
  })
})

it('a user whose address is not verified here gets a mail, whatever the former service says', async () => {
  const { user, signIn, confirm, asked } = await world()
  await user(null)
  const { client, place, user: before } = await signIn(right)
  expect([place, before]).toEqual(['/auth/passwords/mailed', undefined])
  await confirm(client)
  expect([(await client.session())?.user?.email, (await signIn(right)).user?.email, asked.length]).toEqual([ada, ada, 1])
})

it('a password that was planted at the former service does not open a user whose owner has verified the address here', async () => {
  const { auth, user, signIn } = await world({ verified: false })
  await user()
  expect((await signIn(right)).user).toBeUndefined()
  expect(await auth.passwords.has({ userId: 'ada' })).toBe(false)
})

it('two sign-ins at once ask once, and wrong ones are limited as any password', async () => {
  const { user, signIn, asked, reply } = await world()
  await user()
  let release = (): void => {}
  reply(() => new Promise((resolve) => (release = () => resolve({ emailVerified: true }))))
  const first = signIn(right)
  await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 5000, interval: 2 })
  const second = await signIn(right)
  expect([second.response.status, second.user, asked.length]).toEqual([503, undefined, 1])
  release()
  expect((await first).user?.email).toBe(ada)
  const bob = await world()
  for (let times = 0; times < 12; times++) await bob.signIn(wrong)
  expect(bob.asked.length).toBeLessThan(12)
})

it('while the former service does not answer, the sign-in says that it is busy, and no try is counted', async () => {
  const { user, signIn, reply } = await world()
  await user()
  reply(() => {
    throw new Error('down')
  })
  for (let times = 0; times < 12; times++) await signIn(right)
  reply(() => ({ emailVerified: true }))
  expect((await signIn(right)).user?.email).toBe(ada)
})
