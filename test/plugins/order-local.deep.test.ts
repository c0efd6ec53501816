/**
 * The order matrix: a person who types an address first has nothing of the user who proves it, in any order, with passwords, codes, passkeys, providers
 * and numbers.
 */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { type CodeMessage, phonePlugin } from 'authkernel/plugins/phone'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { LocalOp } from '../rows/_op.ts'
import { baseConfig, Client } from '../_setup.ts'
import { Authenticator, type CreationOptions, type RequestOptions } from './_authenticator.ts'
import { settle } from '../_settle.ts'

const victim = 'ada@example.com'
const strategies = ['jwt', 'database'] as const
const attacks = ['password', 'passkey', 'unverified', 'untrusted', 'code', 'phone'] as const
const proofs = ['password', 'code', 'link', 'verified'] as const
type Attack = (typeof attacks)[number]
type Proof = (typeof proofs)[number]

async function world(strategy: 'jwt' | 'database') {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    experimental: { enableWebAuthn: true },
    throttle: false,
  })
  const mails: MailMessage[] = []
  const texts: CodeMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(oidcPlugin({ ...op.provider('oidc', 'bank'), trustEmail: true } as never))
    .use(oidcPlugin({ ...op.provider('oidc', 'rogue'), trustEmail: false } as never))
    .use(passwordsPlugin({ breached: false }))
    .use(codesPlugin({ via: email() }))
    .use(phonePlugin({ send: (message) => void texts.push(message) }))
    .use(webauthnPlugin())
  await auth.ready({ warm: true })
  const newest = async (pattern: RegExp): Promise<string> => (await settle(), pattern.exec(mails.at(-1)?.text ?? '')?.[1] ?? '')
  const atProvider = async (client: Client, sub: string, verified: boolean, id: 'bank' | 'rogue' = 'bank') => {
    const before = op.person
    op.person = { ...before, sub, email: victim, email_verified: verified } as never
    const response = await client.post(`/signin/${id}`)
    await client.get(await op.authorize(response.headers.get('location')!))
    op.person = before
  }
  const passkey = async (client: Client, key: Authenticator, action: 'register' | 'authenticate') => {
    const query = action === 'register' ? `?action=register&email=${encodeURIComponent(victim)}` : '?action=authenticate'
    const { options } = (await (await client.get(`/webauthn-options/passkey${query}`)).json()) as {
      options?: CreationOptions & RequestOptions
    }
    if (!options) return
    const data = action === 'register' ? key.create(options) : key.get(options)
    await client.post('/callback/passkey', { action, data })
  }
  const ask = async (client: Client) => void (await client.post('/signin/codes', { email: victim }))
  const signUp = async (client: Client, password: string) => {
    await client.post('/passwords/sign-up', { email: victim, password })
    return newest(/confirm\?token=([0-9a-f]{64})/)
  }

  /** Everything that an attacker may do before anybody proved anything, and what they keep. */
  const attacker = new Client(auth)
  const password = 'the attacker waits here'
  const key = new Authenticator('http://localhost:3000')
  const attack = async (by: Attack) => {
    if (by === 'password') await signUp(attacker, password)
    if (by === 'passkey') await passkey(attacker, key, 'register')
    if (by === 'unverified') await atProvider(attacker, 'mallory', false)
    if (by === 'untrusted') await atProvider(attacker, 'mallory', true, 'rogue')
    if (by === 'code') await ask(attacker)
    if (by === 'phone') {
      await attacker.post('/signin/phone', { phone: '+4915123456789' })
      await settle()
      await attacker.post('/callback/phone', { code: texts.at(-1)!.code! })
    }
  }
  const prove = async (by: Proof): Promise<Client> => {
    const owner = new Client(auth)
    if (by === 'password') await owner.post('/passwords/confirm', { token: await signUp(owner, 'seven purple otters sing') })
    if (by === 'code') {
      await ask(owner)
      await owner.post('/callback/codes', { code: await newest(/^\s*(\d{6})\s*$/m) })
    }
    if (by === 'link') {
      await ask(new Client(auth))
      await owner.post('/callback/codes', { token: await newest(/codes\?token=([0-9a-f]{64})/) })
    }
    if (by === 'verified') await atProvider(owner, 'ada', true)
    return owner
  }
  /** Every way in that the attacker has left; null: none leads to the owner. */
  const intrusions = async (ownerId: string): Promise<string[]> => {
    const found: string[] = []
    const look = async (name: string, client: Client) => {
      const session = await client.session()
      const user = session?.user?.['id'] ?? session?.['sub']
      const address = session?.user?.email
      if (user === ownerId || address === victim) found.push(name)
    }
    await look('session from before', attacker)
    const byPassword = new Client(auth)
    await byPassword.post('/callback/passwords', { email: victim, password })
    await look('password', byPassword)
    const byKey = new Client(auth)
    await passkey(byKey, key, 'authenticate')
    await look('passkey', byKey)
    const byProvider = new Client(auth)
    await atProvider(byProvider, 'mallory', false)
    await look('provider', byProvider)
    const byRogue = new Client(auth)
    await atProvider(byRogue, 'mallory', true, 'rogue')
    await look('provider that nobody trusts', byRogue)
    return found
  }
  return { auth, adapter, attacker, attack, prove, intrusions, signUp, newest, ask, passkey, key, mails }
}

describe.each(strategies)('under the %s strategy', (strategy) => {
  for (const first of attacks) {
    it.each(proofs)(`${first}, then the owner by %s`, async (by) => {
      const { adapter, attack, prove, intrusions } = await world(strategy)
      await attack(first)
      const owner = await prove(by)
      expect((await owner.session())?.user?.email).toBe(victim)
      const user = await adapter.getUserByEmail!(victim)
      expect(user?.emailVerified).toBeInstanceOf(Date)
      expect(await intrusions(user!.id)).toEqual([])
    })
  }

  it('every order of two attacks before a proof', async () => {
    for (const one of attacks)
      for (const two of attacks) {
        if (one === two) continue
        const by = proofs[(attacks.indexOf(one) + attacks.indexOf(two)) % proofs.length]!
        const { adapter, attack, prove, intrusions } = await world(strategy)
        await attack(one)
        await attack(two)
        const owner = await prove(by)
        expect([one, two, by, (await owner.session())?.user?.email]).toEqual([one, two, by, victim])
        const user = await adapter.getUserByEmail!(victim)
        expect([one, two, by, await intrusions(user!.id)]).toEqual([one, two, by, []])
      }
  }, 120_000)

  it.each(attacks)('the owner was first; %s changes nothing', async (by) => {
    const { adapter, attack, prove, intrusions } = await world(strategy)
    await prove('password')
    const before = await adapter.getUserByEmail!(victim)
    await attack(by)
    expect((await adapter.getUserByEmail!(victim))?.id).toBe(before!.id)
    expect(await intrusions(before!.id)).toEqual([])
    const again = await prove('code')
    expect([(await again.session())?.user?.email, (await adapter.getUserByEmail!(victim))?.id]).toEqual([victim, before!.id])
  })

  it('the owner opens the mail that the attacker caused, and goes on without a password or with an own one', async () => {
    for (const fields of [{ without: '1' }, { password: 'nine yellow llamas dance' }]) {
      const { auth, adapter, attacker, signUp, intrusions } = await world(strategy)
      const token = await signUp(attacker, 'the attacker waits here')
      const owner = new Client(auth)
      await owner.post('/passwords/confirm', { token, ...fields })
      expect((await owner.session())?.user?.email).toBe(victim)
      expect(await intrusions((await adapter.getUserByEmail!(victim))!.id)).toEqual([])
    }
  })

  it('a link that the attacker asked for signs in the browser that opened it, and no other', async () => {
    const { auth, attacker, ask, newest } = await world(strategy)
    await ask(attacker)
    const token = await newest(/codes\?token=([0-9a-f]{64})/)
    const owner = new Client(auth)
    await owner.post('/callback/codes', { token })
    expect([(await owner.session())?.user?.email, await attacker.session()]).toEqual([victim, null])
  })

  it('another spelling is the same address, or none', async () => {
    const { auth, adapter, mails } = await world(strategy)
    const client = new Client(auth)
    for (const typed of ['ADA@Example.com', 'ａｄａ@example.com', ' ada@example.com ']) await client.post('/signin/codes', { email: typed })
    await settle()
    expect(mails.map(({ to }) => to)).toEqual([victim, victim, victim])
    const code = /^\s*(\d{6})\s*$/m.exec(mails.at(-1)!.text)![1]!
    await client.post('/callback/codes', { code })
    expect((await adapter.getUserByEmail!(victim))?.email).toBe(victim)
  })
})
