/** An account at a trusted provider that holds an address unverified, or says nothing of it, never becomes the account of the person who proves the address. */
import { describe, expect, it, vi } from 'vitest'
import { type AuthConfig, createAuth, type Session } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import discord from 'authkernel/providers/discord'
import github from 'authkernel/providers/github'
import google from 'authkernel/providers/google'
import { baseConfig, Client } from '../_setup.ts'
import { LocalOp } from '../rows/_op.ts'

const victim = 'ada@example.com'
const strategies = ['jwt', 'database'] as const
const attacks = ['discord', 'github', 'bare', 'silent'] as const
const proofs = ['link', 'code', 'registration', 'reset', 'provider'] as const
type Attack = (typeof attacks)[number]
type Proof = (typeof proofs)[number]

async function world(strategy: 'jwt' | 'database', published = false) {
  const base = baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) }, throttle: false })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const op = new LocalOp(base.runtime.now)
  /** Whom the provider knows, and what it says of the address. */
  const person: { id: string; verified: boolean | undefined } = { id: '1', verified: false }
  const answers: Record<string, () => unknown> = {
    'discord.com/api/oauth2/token': () => ({ access_token: 'a', token_type: 'bearer' }),
    'discord.com/api/users/@me': () => ({ id: person.id, username: 'x', email: victim, verified: person.verified }),
    'github.com/login/oauth/access_token': () => ({ access_token: 'a', token_type: 'bearer' }),
    'api.github.com/user': () => ({ id: Number(person.id), login: 'x', email: null }),
    'api.github.com/user/emails': () => [{ email: victim, primary: true, verified: person.verified }],
  }
  base.runtime.fetch = async (input, init) => {
    const { host, pathname } = new URL(input instanceof Request ? input.url : String(input))
    const answer = answers[host + pathname]
    return answer ? Response.json(answer()) : op.fetch(input, init)
  }
  const data = memoryData()
  const { listAccountsByUserId, deleteSessionsByUserId, createUserWithAccount, ...plain } = memoryAdapter(data)
  const adapter = published ? plain : { ...plain, listAccountsByUserId, deleteSessionsByUserId, createUserWithAccount }
  const secrets = { clientId: op.clientId, clientSecret: op.clientSecret }
  const bare = { ...op.provider('oauth', 'bare'), trustEmail: true, account: () => ({}) }
  const callbacks: AuthConfig['callbacks'] = {
    session: ({ session, token, user }) => ({ ...session, who: user?.id ?? token?.sub }) as Session,
  }
  let auth = createAuth({ ...base, callbacks })
    .use(adapterPlugin(adapter as never))
    .use(postbox)
    .use(oauthPlugin(discord(secrets)))
    .use(oauthPlugin(github(secrets)))
    .use(oauthPlugin(bare as never))
    .use(codesPlugin({ via: email() }))
  if (!published) auth = auth.use(passwordsPlugin({ breached: false })) as never
  await auth.ready()
  const mailed = async (pattern: RegExp): Promise<string> => pattern.exec(await nextMail(mails))?.[1] ?? ''
  const atProvider = async (by: Attack, id: string, verified: boolean | undefined): Promise<Client> => {
    Object.assign(person, { id, verified: by === 'silent' ? undefined : verified })
    op.person = { sub: id, name: 'x', email: victim, ...(person.verified !== undefined && { email_verified: person.verified }) }
    const client = new Client(auth)
    const started = await client.post(`/signin/${by === 'silent' ? 'bare' : by}`)
    const back = op.authorize(started.headers.get('location')!)
    const answer = await client.get(back)
    expect(answer.headers.get('location')).not.toContain('error=')
    return client
  }
  const prove = async (by: Proof): Promise<Client> => {
    const owner = new Client(auth)
    if (by === 'provider') return atProvider('discord', '77', true)
    if (by === 'registration') {
      await owner.post('/passwords/sign-up', { email: victim, password: 'seven purple otters sing' })
      await owner.post('/passwords/confirm', { token: await mailed(/confirm\?token=([0-9a-f]{64})/) })
      return owner
    }
    if (by === 'reset') {
      await owner.post('/passwords/reset', { email: victim })
      await owner.post('/passwords/new', { token: await mailed(/new\?token=([0-9a-f]{64})/), password: 'seven purple otters sing' })
      return owner
    }
    await owner.post('/signin/codes', { email: victim })
    if (by === 'code') await owner.post('/callback/codes', { code: await mailed(/^\s*(\d{6})\s*$/m) })
    else await owner.post('/callback/codes', { token: await mailed(/codes\?token=([0-9a-f]{64})/) })
    return owner
  }
  const idOf = async (client: Client) => ((await client.session()) as (Session & { who?: string }) | null)?.who ?? null
  return { auth, data, adapter, atProvider, prove, idOf }
}

/** The text of the mail that the answer did not wait for; the list is empty afterwards. */
async function nextMail(mails: MailMessage[]): Promise<string> {
  await vi.waitFor(() => expect(mails).toHaveLength(1), { timeout: 5000, interval: 2 })
  return mails.pop()!.text
}

describe.each(strategies)('under the %s strategy', (strategy) => {
  it.each(attacks.flatMap((by) => proofs.map((proof) => ({ by, proof }))))(
    'the attacker comes by $by, the owner proves the address by $proof: two users',
    async ({ by, proof }) => {
      const { adapter, atProvider, prove, idOf } = await world(strategy)
      const attacker = await atProvider(by, '13', false)
      expect((await adapter.getUserByEmail!(victim))?.emailVerified).toBeNull()
      const id = await idOf(await prove(proof))
      expect(id).not.toBeNull()
      const user = await adapter.getUserByEmail!(victim)
      expect([user?.id, user?.emailVerified]).toEqual([id, expect.any(Date)])
      const again = await atProvider(by, '13', false)
      for (const client of [attacker, again]) {
        expect(await idOf(client)).not.toBe(id)
        expect((await client.session())?.user?.email ?? null).not.toBe(victim)
      }
    },
  )

  it.each(['discord', 'github', 'bare'] as const)('what %s verified is stored, and its user stays after a magic link', async (by) => {
    const { adapter, atProvider, prove, idOf } = await world(strategy)
    const id = await idOf(await atProvider(by, '1', true))
    expect((await adapter.getUserByEmail!(victim))?.emailVerified).toBeInstanceOf(Date)
    expect(await idOf(await prove('link'))).toBe(id)
    expect(await idOf(await atProvider(by, '1', true))).toBe(id)
  })

  it('a user of an Auth.js table stays after a sign-in at the provider that vouches, and then by link', async () => {
    const { adapter, data, atProvider, prove, idOf } = await world(strategy)
    const user = await adapter.createUser!({ id: 'moved', email: victim, emailVerified: null })
    await adapter.linkAccount!({ userId: user.id, provider: 'discord', providerAccountId: '1', type: 'oauth' })
    expect(await idOf(await atProvider('discord', '1', true))).toBe('moved')
    expect(data.users.get('moved')?.emailVerified).toBeInstanceOf(Date)
    expect(await idOf(await prove('link'))).toBe('moved')
  })

  it('without that, the link makes a new user: the table does not tell the attacker from the owner', async () => {
    const { adapter, data, prove, idOf } = await world(strategy)
    await adapter.createUser!({ id: 'moved', email: victim, emailVerified: null })
    await adapter.linkAccount!({ userId: 'moved', provider: 'discord', providerAccountId: '1', type: 'oauth' })
    expect(await idOf(await prove('link'))).not.toBe('moved')
    expect(data.users.get('moved')?.email).toBeNull()
  })

  it('an adapter that cannot list accounts: the attacker has no user of the owner either', async () => {
    const { atProvider, prove, idOf } = await world('database', true)
    const attacker = await atProvider('discord', '13', false)
    const id = await idOf(await prove('link'))
    expect(id).not.toBeNull()
    expect(await idOf(attacker)).not.toBe(id)
    expect(await idOf(await atProvider('discord', '13', false))).not.toBe(id)
  })
})

describe('a stored ID token of a trusted provider', () => {
  const claims = (given: object): string =>
    ['{"alg":"none"}', JSON.stringify(given), ''].map((part) => Buffer.from(part).toString('base64url')).join('.')

  it.each([
    [{ email: victim, email_verified: true }, true],
    [{ email: victim }, false],
    [{ email: victim, email_verified: false }, false],
    [{ email: 'eve@example.com', email_verified: true }, false],
    [{ email_verified: true }, false],
  ])('%j keeps its user: %s', async (given, kept) => {
    const base = baseConfig({ session: { strategy: 'database' }, throttle: false })
    const mails: MailMessage[] = []
    const data = memoryData()
    const adapter = memoryAdapter(data)
    const postbox: Plugin = {
      name: 'postbox',
      setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }),
    }
    const auth = createAuth(base)
      .use(adapterPlugin(adapter))
      .use(postbox)
      .use(oidcPlugin(google({ clientId: 'c', clientSecret: 's' })))
      .use(codesPlugin({ via: email() }))
    await adapter.createUser({ id: 'moved', email: victim, emailVerified: null })
    await adapter.linkAccount({ userId: 'moved', provider: 'google', providerAccountId: '1', type: 'oidc', id_token: claims(given) })
    const owner = new Client(auth)
    await owner.post('/signin/codes', { email: victim })
    await owner.post('/callback/codes', { code: /^\s*(\d{6})\s*$/m.exec(await nextMail(mails))![1]! })
    expect((await adapter.getUserByEmail(victim))?.id === 'moved').toBe(kept)
  })
})
