/** Passwords of another product whose users never proved their address: none signs in before a proof, and none survives another proof. */
import bcrypt from 'bcryptjs'
import { describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { bcryptHash, type PasswordsOptions, passwordsPlugin } from 'authkernel/plugins/passwords'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { baseConfig, Client } from '../_setup.ts'
import { LocalOp } from '../rows/_op.ts'

const ada = 'ada@example.com'
const planted = 'the attacker waits here'
const chosen = 'seven purple otters sing'
const strategies = ['jwt', 'database'] as const
const where = (response: Response): string => new URL(response.headers.get('location') ?? '/none', 'http://localhost:3000').pathname

async function world(strategy: 'jwt' | 'database', { password = planted, verified = false, ...options }: Given = {}) {
  const base = baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) }, throttle: false })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const data = memoryData()
  const adapter = memoryAdapter(data)
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(oidcPlugin({ ...op.provider('oidc', 'bank'), trustEmail: true } as never))
    .use(passwordsPlugin({ breached: false, verify: [bcryptHash()], ...options }))
    .use(codesPlugin({ via: email() }))
    .use(usernamesPlugin())
  await auth.ready()
  await adapter.createUser({ id: 'moved', email: ada, name: 'Ada', emailVerified: verified ? new Date() : null })
  await auth.passwords.import([{ userId: 'moved', hash: bcrypt.hashSync(password, 4) }])
  const next = async (pattern: RegExp): Promise<string> => {
    await vi.waitFor(() => expect(mails).not.toHaveLength(0), { timeout: 5000, interval: 2 })
    return pattern.exec(mails.pop()!.text)?.[1] ?? ''
  }
  const signIn = async (typed = password, name = ada, client = new Client(auth)) => {
    const response = await client.post('/callback/passwords', { email: name, password: typed })
    return { client, place: where(response), session: await client.session() }
  }
  const user = async () => adapter.getUserByEmail!(ada)
  const token = () => next(/confirm\?token=([0-9a-f]{64})/)
  return { auth, adapter, op, mails, next, token, signIn, user }
}
interface Given extends PasswordsOptions {
  password?: string
  verified?: boolean
}

describe.each(strategies)('under the %s strategy', (strategy) => {
  it('the right password of an unproved user mails a link; the reader in the same browser keeps the user and the password', async () => {
    const { signIn, token, user } = await world(strategy)
    const { client, place, session } = await signIn()
    expect([place, session, (await user())?.emailVerified]).toEqual(['/auth/passwords/mailed', null, null])
    const link = await token()
    expect(await (await client.get(`/passwords/confirm?token=${link}`)).text()).not.toContain('new-password')
    await client.post('/passwords/confirm', { token: link })
    expect((await client.session())?.user?.email).toBe(ada)
    expect([(await user())?.id, (await user())?.emailVerified]).toEqual(['moved', expect.any(Date)])
    expect((await signIn()).session?.user?.email).toBe(ada)
  })

  it('in another browser the planted password is not activated, and is gone', async () => {
    const { auth, signIn, token, user } = await world(strategy)
    const attacker = await signIn()
    const link = await token()
    const owner = new Client(auth)
    expect((await owner.post('/passwords/confirm', { token: link })).status).toBe(400)
    await owner.post('/passwords/confirm', { token: link, password: chosen })
    expect((await owner.session())?.user?.email).toBe(ada)
    expect([(await user())?.emailVerified, await attacker.client.session()]).toEqual([expect.any(Date), null])
    expect([(await signIn()).session, (await signIn(chosen)).session?.user?.email]).toEqual([null, ada])
  })

  it('a wrong password of an unproved user is told nothing else than any wrong one', async () => {
    const { signIn, mails } = await world(strategy)
    const [known, unknown] = [await signIn('not this one at all'), await signIn('not this one at all', 'eve@example.com')]
    expect([known.place, known.session]).toEqual([unknown.place, null])
    expect(mails).toEqual([])
  })

  const proofs = {
    code: async ({ auth, next }) => {
      const owner = new Client(auth)
      await owner.post('/signin/codes', { email: ada })
      await owner.post('/callback/codes', { code: await next(/^\s*(\d{6})\s*$/m) })
      return owner
    },
    link: async ({ auth, next }) => {
      await new Client(auth).post('/signin/codes', { email: ada })
      const owner = new Client(auth)
      await owner.post('/callback/codes', { token: await next(/codes\?token=([0-9a-f]{64})/) })
      return owner
    },
    registration: async ({ auth, token }) => {
      const owner = new Client(auth)
      await owner.post('/passwords/sign-up', { email: ada, password: chosen })
      await owner.post('/passwords/confirm', { token: await token() })
      return owner
    },
    reset: async ({ auth, next }) => {
      const owner = new Client(auth)
      await owner.post('/passwords/reset', { email: ada })
      await owner.post('/passwords/new', { token: await next(/new\?token=([0-9a-f]{64})/), password: chosen })
      return owner
    },
    provider: async ({ auth, op }) => {
      op.person = { sub: 'ada', email: ada, email_verified: true }
      const owner = new Client(auth)
      const started = await owner.post('/signin/bank')
      await owner.get(op.authorize(started.headers.get('location')!))
      return owner
    },
  } satisfies Record<string, (at: Awaited<ReturnType<typeof world>>) => Promise<Client>>

  it.each(Object.keys(proofs) as (keyof typeof proofs)[])(
    'the owner proves the address by %s: the user stays, the hash is dropped',
    async (by) => {
      const at = await world(strategy)
      const owner = await proofs[by](at)
      expect((await owner.session())?.user?.email).toBe(ada)
      expect([(await at.user())?.id, (await at.user())?.emailVerified]).toEqual(['moved', expect.any(Date)])
      expect((await at.signIn()).session).toBeNull()
      const sets = by === 'registration' || by === 'reset'
      expect(await at.auth.passwords.has({ userId: 'moved' })).toBe(sets)
      if (sets) expect((await at.signIn(chosen)).session?.user?.email).toBe(ada)
    },
  )

  it('a known account at a provider that now vouches for the address drops it too', async () => {
    const at = await world(strategy)
    await at.adapter.linkAccount({ userId: 'moved', provider: 'bank', providerAccountId: 'ada', type: 'oidc' })
    await proofs.provider(at)
    expect((await at.user())?.id).toBe('moved')
    expect([(await at.signIn()).session, await at.auth.passwords.has({ userId: 'moved' })]).toEqual([null, false])
  })

  it('whatever sets `emailVerified` without an event, the parked password signs no user in', async () => {
    const { adapter, signIn, mails } = await world(strategy)
    await adapter.updateUser({ id: 'moved', emailVerified: new Date() })
    expect([(await signIn()).session, mails]).toEqual([null, []])
  })

  it('a short one leads to a longer password after the link, as for users who were proved', async () => {
    const { signIn, token } = await world(strategy, { password: 'short one', signUp: false })
    const { client } = await signIn()
    const answer = await client.post('/passwords/confirm', { token: await token() })
    expect([where(answer), await client.session()]).toEqual(['/auth/passwords/longer', null])
    await client.post('/passwords/longer', { password: chosen })
    expect([(await client.session())?.user?.email, (await signIn(chosen)).session?.user?.email]).toEqual([ada, ada])
  })

  it('a hash of a user who was proved before the import signs in as before', async () => {
    const { signIn } = await world(strategy, { verified: true })
    expect((await signIn()).session?.user?.email).toBe(ada)
  })

  it('with an account of a stranger beside the password, the reader gets a user of their own', async () => {
    const at = await world(strategy)
    await at.adapter.linkAccount({ userId: 'moved', provider: 'bank', providerAccountId: 'mallory', type: 'oidc' })
    const { client } = await at.signIn()
    await client.post('/passwords/confirm', { token: await at.token() })
    expect((await client.session())?.user?.email).toBe(ada)
    expect((await at.user())?.id).not.toBe('moved')
    expect((await at.adapter.getUser('moved'))?.email).toBeNull()
  })
})

it('a table of better-auth activates nothing: what it stores is parked', async () => {
  const { auth, adapter } = await world('database')
  await adapter.createUser({ id: 'bob', email: 'bob@example.com', emailVerified: null })
  const take: Plugin = {
    name: 'take',
    setup(kernel) {
      kernel.route({
        method: 'GET',
        path: '/take',
        handler: async (ctx) => {
          const hash = bcrypt.hashSync(planted, 4)
          return Response.json(await ctx.service('passwordTakeover').take(ctx, [{ userId: 'bob', hash }], { dry: false }))
        },
      })
    },
  }
  auth.use(take)
  const client = new Client(auth)
  expect(await (await client.get('/take')).json()).toBe(1)
  await client.post('/callback/passwords', { email: 'bob@example.com', password: planted })
  expect(await client.session()).toBeNull()
})
