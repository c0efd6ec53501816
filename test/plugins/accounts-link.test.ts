/** Linking a further account while signed in: only with a fresh proof, however it begins. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { type Context, type Plugin, subjectOf } from 'authkernel/kernel'
import { type AccountsOptions, accountsPlugin, skipLinkProof } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

/** A provider type that believes the form of its callback. */
const companyPlugin: Plugin = {
  name: 'company',
  setup(kernel) {
    kernel.providerType(
      // A type of this test, which no declaration names.
      'company' as never,
      {
        callback: { POST: 'token' },
        start: () => Response.redirect('https://company.example/'),
        async finish(ctx: never) {
          const { sub } = await (ctx as Context).body()
          return {
            user: { name: String(sub) },
            account: { provider: 'company', type: 'company', providerAccountId: sub },
            match: 'account',
            startedBy: await subjectOf(ctx),
          } as never
        },
      } as never,
    )
    kernel.provider({ id: 'company', name: 'Company', type: 'company' } as never)
  },
}

async function world(strategy: 'jwt' | 'database', options?: AccountsOptions) {
  const adapter = memoryAdapter()
  const base = baseConfig({
    session: { strategy },
    providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: ({ id }) => adapter.getUser(String(id)) }],
  })
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(companyPlugin)
  if (options) auth.use(options.routes ? accountsPlugin({ ...options, routes: true }) : accountsPlugin(options))
  await auth.ready()
  await adapter.createUser({ id: 'ann', name: 'Ann', email: 'ann@example.com', emailVerified: new Date(0) })
  const client = new Client(auth)
  const signIn = () => client.post('/callback/credentials', { id: 'ann' })
  await signIn()
  const link = async (sub: string) => {
    const response = await client.post('/callback/company', { sub, callbackUrl: '/settings' })
    return { to: response.headers.get('location'), linked: (await adapter.listAccountsByUserId('ann')).length }
  }
  return { auth, client, link, signIn, runtime: base.runtime }
}

describe.each(['jwt', 'database'] as const)('with %s sessions', (strategy) => {
  it('a session without a fresh proof links no account, and links it after one', async () => {
    const { link, signIn, runtime } = await world(strategy, {})
    expect((await link('first')).linked).toBe(1)
    runtime.advance(901_000)
    const { to, linked } = await link('second')
    expect(linked).toBe(1)
    expect(new URL(to!, 'http://localhost:3000').pathname).toBe('/auth/signin')
    // An account of the user needs none: it is a sign-in.
    expect((await link('first')).to).not.toContain('/signin')
    await signIn()
    expect((await link('second')).linked).toBe(2)
  })

  it('the client begins no link with an old proof', async () => {
    const { client, runtime } = await world(strategy, { routes: true })
    const begin = async () => {
      const headers = { 'content-type': 'application/json', 'X-Auth-Return-Redirect': '1' }
      const response = await client.send('/accounts/link', {
        method: 'POST',
        body: JSON.stringify({ provider: 'company', csrfToken: await client.csrfToken() }),
        headers,
      })
      return [response.status, ((await response.json()) as { error?: string }).error]
    }
    expect((await begin())[0]).toBe(200)
    runtime.advance(301_000)
    expect(await begin()).toEqual([403, 'StepUpRequired'])
  })

  it('a session of any age links with the symbol, and without the plugin as with Auth.js', async () => {
    const choices: (AccountsOptions | undefined)[] = [{ linkProof: skipLinkProof }, undefined]
    for (const options of choices) {
      const { link, runtime } = await world(strategy, options)
      runtime.advance(86_400_000)
      expect((await link('late')).linked).toBe(1)
    }
  })
})

it('says what is wrong with `linkProof`', () => {
  for (const linkProof of [0, -1, Number.NaN, true, '900'])
    expect(() => accountsPlugin({ linkProof: linkProof as number })).toThrow('`linkProof` must be seconds')
})
