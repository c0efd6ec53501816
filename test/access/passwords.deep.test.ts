/** A password that is being checked, or a login that waits with it, gives nothing after the password was changed or reset. */
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { bcryptHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import bcrypt from 'bcryptjs'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { termsPlugin } from './_terms.ts'

const former = 'seven purple otters sing'
const later = 'nine yellow llamas dance'
const email = 'ada@example.com'

async function world(strategy: 'jwt' | 'database') {
  const mails: MailMessage[] = []
  const state = { parks: false }
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const adapter = memoryAdapter()
  const auth = createAuth(baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } }))
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(passwordsPlugin({ breached: false, verify: [bcryptHash()] }))
    .use(apiKeysPlugin())
    .use(termsPlugin(() => state.parks))
  await auth.ready({ warm: true })
  await adapter.createUser({ id: 'ada', email, name: 'Ada', emailVerified: new Date(0) } as never)
  const signIn = async (password: string, client = new Client(auth)) => {
    await client.post('/callback/passwords', { email, password, callbackUrl: '/app' })
    return client
  }
  const mailed = async (): Promise<string> => {
    const before = mails.length
    await new Client(auth).post('/passwords/reset', { email })
    while (mails.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
    return /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]!
  }
  return { auth, state, signIn, mailed, import: (hash: string) => auth.passwords.import([{ userId: 'ada', hash }]) }
}

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('sign-ins whose hash is checked while a reset completes are void', { timeout: 60_000 }, async () => {
    const { auth, signIn, mailed, import: take } = await world(strategy)
    await take(bcrypt.hashSync(former, 4))
    for (let round = 0; round < 3; round++) {
      const token = await mailed()
      const before = round === 0 ? former : `${later} ${round - 1}`
      const clients = Array.from({ length: 6 }, () => signIn(before))
      await new Client(auth).post('/passwords/new', { token, password: `${later} ${round}` })
      const alive = await Promise.all((await Promise.all(clients)).map(async (client) => (await client.session()) !== null))
      expect(alive).not.toContain(true)
      expect(await (await signIn(`${later} ${round}`)).session()).not.toBeNull()
    }
  })

  it('a parked sign-in with the former password does not complete after a reset', { timeout: 60_000 }, async () => {
    const { auth, state, signIn, mailed, import: take } = await world(strategy)
    await take(bcrypt.hashSync(former, 4))
    state.parks = true
    const thief = await signIn(former)
    const owner = await signIn(former)
    await owner.post('/terms')
    expect(await owner.session()).not.toBeNull()
    await new Client(auth).post('/passwords/new', { token: await mailed(), password: later })
    await thief.post('/terms')
    expect(await thief.session()).toBeNull()
  })

  it('a sign-in that waits for a longer password does not replace the new one', { timeout: 60_000 }, async () => {
    const { auth, signIn, mailed, import: take } = await world(strategy)
    await take(bcrypt.hashSync('short', 4))
    const thief = await signIn('short')
    expect(await thief.session()).toBeNull()
    await new Client(auth).post('/passwords/new', { token: await mailed(), password: later })
    await thief.post('/passwords/longer', { password: 'the thief chose this one' })
    expect(await thief.session()).toBeNull()
    expect(await (await signIn('the thief chose this one')).session()).toBeNull()
    expect(await (await signIn(later)).session()).not.toBeNull()
  })

  it('a sign-in that chooses a longer password itself goes on', { timeout: 60_000 }, async () => {
    const { signIn, import: take } = await world(strategy)
    await take(bcrypt.hashSync('short', 4))
    const client = await signIn('short')
    await client.post('/passwords/longer', { password: later })
    expect((await client.session())?.user?.email).toBe(email)
  })

  it('a reset ends API keys, and a change keeps them', { timeout: 60_000 }, async () => {
    const { auth, signIn, mailed, import: take } = await world(strategy)
    await take(bcrypt.hashSync(former, 4))
    const opens = async (key: string) =>
      (await auth.session(new Request('http://localhost:3000/', { headers: { 'x-api-key': key } }))) !== null
    const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'one' })
    const client = await signIn(former)
    await client.post('/passwords/change', { current: former, password: later })
    expect([(await client.session()) !== null, await opens(key)]).toEqual([true, true])
    await new Client(auth).post('/passwords/new', { token: await mailed(), password: `${later} again` })
    expect(await opens(key)).toBe(false)
  })
})
