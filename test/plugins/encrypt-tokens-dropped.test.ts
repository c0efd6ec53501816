/** The secret of `encryptTokens` was dropped: stored provider tokens are gone, and everything that meets them goes on. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth } from 'authkernel'
import type { MailMessage, Plugin, TenantAdapter } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { encryptTokens } from 'authkernel/plugins/encrypt-tokens'
import { hashSessionTokens } from 'authkernel/plugins/hash-session-tokens'
import { memoryAdapter, memoryData, type MemoryData } from 'authkernel/plugins/memory'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { singleLogoutPlugin } from 'authkernel/plugins/single-logout'
import { newUser } from '../../src/testing/adapter-subject.ts'
import { baseConfig, Client } from '../_setup.ts'
import { LocalOp } from '../rows/_op.ts'

const former = 'the-former-secret-of-the-tokens-40-letters'
const present = 'the-present-secret-of-the-tokens-40-letters'

async function world(data: MemoryData, secret: string | string[], more: object = {}) {
  const base = baseConfig({ session: { strategy: 'database' }, throttle: false })
  const seen: unknown[][] = []
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const config: AuthConfig = { ...base, logger: { ...base.logger, warn: ((...told: unknown[]) => void seen.push(told)) as never } }
  const auth = createAuth(config)
    .use(adapterPlugin(encryptTokens(memoryAdapter(data), { secret })))
    .use(postbox)
    .use(oidcPlugin({ ...op.provider('oidc', 'acme'), ...more } as never))
    .use(oauthPlugin({ ...op.provider('oauth', 'plain') } as never))
    .use(codesPlugin({ via: email() }))
    .use(providerTokensPlugin())
    .use(singleLogoutPlugin())
    .use(accountsPlugin())
  await auth.ready()
  const signIn = async (id = 'acme', client = new Client(auth)): Promise<Client> => {
    const started = await client.post(`/signin/${id}`)
    const answer = await client.get(op.authorize(started.headers.get('location')!))
    expect(answer.headers.get('location')).not.toContain('error')
    return client
  }
  return { auth, op, mails, logger: base.logger, seen, signIn }
}
const account = async (data: MemoryData) =>
  ((await memoryAdapter(data).getAccount('ann-at-op', 'acme')) as Record<string, unknown> | null) ?? {}
const request = (client: Client) => new Request('http://localhost:3000/', { headers: { cookie: client.cookieHeader() } })

async function dropped(more: object = {}) {
  const data = memoryData()
  const first = await world(data, former, more)
  await first.signIn()
  const sealed = await account(data)
  expect(sealed['id_token']).toMatch(/^enc\.v1\./)
  return { data, sealed, ...(await world(data, present, more)) }
}

describe('a dropped secret', () => {
  it('fails no sign-in, list of accounts, account page, sign-out or deletion, and is one warning', async () => {
    const { auth, signIn, logger, seen, data } = await dropped()
    const client = await signIn('acme')
    const { id } = (await client.session())!.user as { id: string }
    expect(await auth.accounts.list({ userId: id })).toMatchObject([{ provider: 'acme' }])
    expect((await client.get('/account')).status).toBe(200)
    expect((await client.post('/signout')).status).toBe(302)
    const again = await signIn()
    expect(await auth.users.delete(request(again))).toBeTruthy()
    expect([data.users.size, data.accounts.size, logger.errors]).toEqual([0, 0, []])
    const told = seen.filter(([code]) => code === 'unreadable-token')
    expect(told).toEqual([
      ['unreadable-token', { fields: ['access_token', 'refresh_token', 'id_token'], remedy: expect.stringContaining('secret') as string }],
    ])
  })

  it('the next sign-in stores fresh tokens, also where a provider does not ask for it', async () => {
    const { data, sealed, signIn } = await dropped()
    await signIn()
    const fresh = await account(data)
    for (const field of ['access_token', 'refresh_token', 'id_token']) expect(fresh[field]).not.toBe(sealed[field])
    expect(await encryptTokens(memoryAdapter(data), { secret: present }).getAccount!('ann-at-op', 'acme')).not.toHaveProperty('unreadable')
    await signIn()
    expect(await account(data)).toEqual(fresh)
  })

  it('a token that can be read is not replaced', async () => {
    const data = memoryData()
    const { signIn } = await world(data, former)
    await signIn()
    const stored = await account(data)
    await signIn()
    expect(await account(data)).toEqual(stored)
  })

  it('an ID token that cannot be read vouches for no address', async () => {
    const { data, auth, mails } = await dropped()
    const [user] = data.users.values()
    const owner = new Client(auth)
    await owner.post('/signin/codes', { email: user!.email })
    await expect.poll(() => mails.length).toBe(1)
    await owner.post('/callback/codes', { code: /^\s*(\d{6})\s*$/m.exec(mails[0]!.text)![1]! })
    expect((await owner.session())!.user!['id']).not.toBe(user!.id)
    expect(data.users.get(user!.id)?.email).toBeNull()
  })

  it('the former secret behind the new one reads them again', async () => {
    const { data } = await dropped()
    const { auth, mails } = await world(data, [present, former])
    const [user] = data.users.values()
    const owner = new Client(auth)
    await owner.post('/signin/codes', { email: user!.email })
    await expect.poll(() => mails.length).toBe(1)
    await owner.post('/callback/codes', { code: /^\s*(\d{6})\s*$/m.exec(mails[0]!.text)![1]! })
    expect((await owner.session())!.user!['id']).toBe(user!.id)
  })
})

describe('an adapter that keeps tenants apart', () => {
  const tenants = () => {
    const stores = new Map<string, MemoryData>()
    const namespaced = (name: string) => {
      if (!stores.has(name)) stores.set(name, memoryData())
      return memoryAdapter(stores.get(name))
    }
    return { stores, adapter: { ...memoryAdapter(), namespaced } as TenantAdapter }
  }

  it('encryptTokens encrypts in each of them', async () => {
    const { adapter, stores } = tenants()
    const acme = encryptTokens(adapter, { secret: present }).namespaced('acme')
    const user = await acme.createUser!(newUser())
    await acme.linkAccount!({ userId: user.id, provider: 'x', providerAccountId: '1', type: 'oauth', access_token: 'canary' })
    expect(JSON.stringify([...stores.get('acme')!.accounts.values()])).not.toContain('canary')
    expect(await acme.getAccount!('1', 'x')).toMatchObject({ access_token: 'canary' })
  })

  it('hashSessionTokens hashes in each of them', async () => {
    const { adapter, stores } = tenants()
    const acme = hashSessionTokens(adapter).namespaced('acme')
    const user = await acme.createUser!(newUser())
    await acme.createSession!({ sessionToken: 'canary', userId: user.id, expires: new Date(Date.now() + 60_000) })
    expect(JSON.stringify([...stores.get('acme')!.sessions.values()])).not.toContain('canary')
    expect(await acme.getSessionAndUser!('canary')).not.toBeNull()
  })
})
