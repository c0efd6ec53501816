/** A program that acts in a request, and writes of users that tell the events of a sign-in. */
import { createAuth } from 'authkernel'
import { definePlugin, type Facts, type Plugin, type ProgramActor, type Provider } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { auditPlugin, type AuditRecord } from 'authkernel/plugins/audit'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const okta: ProgramActor = { type: 'scim', id: 'Okta of Acme' }
/** A directory that keeps users; `actors` are named one after the other. */
const directory = (actors: readonly unknown[]): Plugin =>
  definePlugin({
    name: 'directory',
    requires: ['store:createUser', 'store:updateUser'],
    setup(kernel) {
      kernel.route({
        method: 'POST',
        path: '/directory',
        csrf: 'bearer',
        async handler(ctx) {
          for (const actor of actors) ctx.actAs(actor as ProgramActor)
          const { email } = await ctx.body()
          const made = await ctx.users.create({ email: String(email), name: 'Ada', emailVerified: null })
          const changed = await ctx.users.update({ id: made.id, name: 'Ada L.' })
          return Response.json({ made, changed })
        },
      })
    },
  })

function host(actors: readonly unknown[]) {
  const records: AuditRecord[] = []
  const config = baseConfig({ origin: 'http://localhost:3000', providers: [] })
  const store = memoryAdapter(memoryData())
  const auth = createAuth(config)
    .use(adapterPlugin(store))
    .use(directory(actors))
    .use(auditPlugin({ sink: (batch) => void records.push(...batch), pause: 1 }))
  const told: [string, string | undefined, Facts['actor']][] = []
  auth.on('createUser', ({ user, facts }) => void told.push(['createUser', user.name ?? undefined, facts.actor]))
  auth.on('updateUser', ({ user, facts }) => void told.push(['updateUser', user.name ?? undefined, facts.actor]))
  const call = (): Promise<Response> =>
    auth.handler(
      new Request('http://localhost:3000/auth/directory', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@acme.example', actor: { type: 'user', id: 'root' } }),
      }),
    )
  return { auth, store, records, told, call, logger: config.logger }
}

describe('ctx.users', () => {
  it('stores and changes a user, and fires the events of a sign-in', async () => {
    const { call, told, store } = host([])
    const { made, changed } = (await (await call()).json()) as { made: { id: string }; changed: { name: string } }
    expect(made.id).toMatch(/^[\da-f-]{36}$/)
    expect(changed.name).toBe('Ada L.')
    expect(await store.getUserByEmail!('ada@acme.example')).toMatchObject({ id: made.id, name: 'Ada L.' })
    expect(told).toEqual([
      ['createUser', 'Ada', undefined],
      ['updateUser', 'Ada L.', undefined],
    ])
  })

  it('works in a job, and names what the adapter lacks', async () => {
    const run = (adapter: object | undefined): Promise<unknown> => {
      let job: Promise<unknown> = Promise.resolve()
      const auth = createAuth(baseConfig({ origin: 'http://localhost:3000', providers: [] })).use({
        name: 'jobs',
        setup: (kernel) => ({
          run: () =>
            (job = kernel.job({ job: 'sync' }, (ctx) => ctx.users.create({ id: 'given', email: 'b@acme.example', emailVerified: null }))),
        }),
      })
      if (adapter) auth.use(adapterPlugin(adapter as never))
      auth.run()
      return job
    }
    expect(await run(memoryAdapter(memoryData()))).toMatchObject({ id: 'given', email: 'b@acme.example' })
    await expect(run(undefined)).rejects.toThrow('ctx.users.create needs an adapter with createUser')
  })
})

describe('ctx.actAs', () => {
  it('names the program in events and in audit, instead of the user whom it is about', async () => {
    const { auth, call, told, records } = host([okta])
    const { made } = (await (await call()).json()) as { made: { id: string } }
    await auth.close()
    expect(told.map(([, , actor]) => actor)).toEqual([okta, okta])
    const created = records.find(({ name }) => name === 'user.created')
    expect(created?.actor).toEqual(okta)
    expect(created?.subject).toEqual({ type: 'user', id: made.id })
    expect(records.every(({ actor }) => actor.id === 'Okta of Acme')).toBe(true)
  })

  it('leaves other requests alone', async () => {
    const { auth, call, records } = host([okta])
    await call()
    await new Client(auth).post('/signin/unknown', {})
    await auth.close()
    expect(records.filter(({ actor }) => actor.type !== 'scim').length).toBeGreaterThan(0)
  })

  it.each([
    ['a type of the log', [{ type: 'user', id: 'root' }], 'the type "user" is none of a program'],
    ['another spelling', [{ type: 'Scim', id: 'x' }], 'the type "Scim"'],
    ['no id', [{ type: 'scim' }], '`id` is a text of 1 to 255 characters'],
    ['a long id', [{ type: 'scim', id: 'x'.repeat(256) }], '`id` is a text'],
    ['nothing', [undefined], 'the type undefined'],
    ['two programs', [okta, { type: 'scim', id: 'Entra' }], 'acts in this request already'],
  ])('refuses %s', async (_what, actors, text) => {
    const { call, logger, told } = host(actors)
    expect((await call()).headers.get('location')).toContain('error=Configuration')
    expect(logger.errors.map((error) => `${error.message} ${String((error.cause as { err?: Error } | undefined)?.err)}`).join()).toContain(
      text,
    )
    expect(told).toEqual([])
  })

  it('is for routes alone', async () => {
    const auth = createAuth(baseConfig({ origin: 'http://localhost:3000', providers: [] })).use({
      name: 'api',
      setup: (kernel) => ({ name: async (request: Request) => (await kernel.contextOf(request)).actAs(okta) }),
    })
    await expect(auth.name(new Request('http://localhost:3000/'))).rejects.toThrow('call it in the handler of a route')
  })
})

describe('a provider that only the hook knows', () => {
  it('is named in audit, also where the sign-in fails', async () => {
    const records: AuditRecord[] = []
    const connection: Provider = {
      id: 'sso-1',
      name: 'Acme GmbH',
      type: 'credentials',
      credentials: {},
      authorize: ({ user }) => (user ? { id: 'a' } : null),
    }
    const auth = createAuth(baseConfig({ origin: 'http://localhost:3000', providers: [] }))
      .use({ name: 'sso', setup: (kernel) => kernel.hook('provider', ({ id }) => (id === 'sso-1' ? connection : undefined)) })
      .use(auditPlugin({ sink: (batch) => void records.push(...batch), pause: 1 }))
    await new Client(auth).post('/callback/sso-1', { user: 'ada' })
    await new Client(auth).post('/callback/sso-1', {})
    await new Client(auth).post('/callback/sso-2', {})
    await auth.close()
    const facts = records.map(({ name, provider, target }) => [name, provider, target?.['providerName']])
    expect(facts).toContainEqual(['signIn.succeeded', 'sso-1', 'Acme GmbH'])
    expect(facts).toContainEqual(['signIn.failed', 'sso-1', 'Acme GmbH'])
    expect(facts.some(([, provider]) => provider === 'sso-2')).toBe(false)
  })
})
