/** Who did it: the person, the key, or the administrator who acts as the person. */
import { createAuth } from 'authkernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { auditPlugin, type AuditRecord, recordsSink } from 'authkernel/plugins/audit'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { byName, keep } from '../rows/_ground.ts'
import { baseConfig, Client } from '../_setup.ts'

async function world(strategy: 'jwt' | 'database') {
  const records: AuditRecord[] = []
  const store = memoryAdapter(memoryData())
  const auth = createAuth(
    baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) }, providers: [byName as never] }),
  )
    .use(adapterPlugin(store))
    // Before the plugin that answers: the order of `.use()` does not matter.
    .use(auditPlugin({ sink: [recordsSink(), (some) => void records.push(...some)], pause: 1, chain: true }))
    .use(accountsPlugin())
    .use(apiKeysPlugin())
    .use(impersonationPlugin({ can: ({ admin }) => admin.id === 'root' }))
    .use({
      name: 'shop',
      setup(kernel) {
        kernel.route({
          method: 'POST',
          path: '/buy',
          async handler(ctx) {
            await ctx.currentSession()
            await ctx.emit('noted', { name: 'order.placed', outcome: 'success' })
            return new Response(null, { status: 204 })
          },
        })
      },
    })
  await auth.ready()
  for (const id of ['root', 'ada']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const browser = async (user?: string): Promise<Client> => {
    const client = new Client(auth)
    if (user !== undefined) await client.post('/callback/credentials', { user })
    return client
  }
  const asks = (client: Client, headers: Record<string, string> = {}): Request =>
    new Request('http://localhost:3000/', { headers: { cookie: client.cookieHeader(), ...headers } })
  const actor = async (name: string): Promise<AuditRecord['actor'] | undefined> => {
    await auth.audit.flush()
    return records.findLast((record) => record.name === name)?.actor
  }
  return { auth, browser, asks, actor }
}

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('an administrator who acts as a user: both stand in the record, in routes and in notes of the host', async () => {
    const { auth, browser, asks, actor } = await world(strategy)
    const root = await browser('root')
    await keep(root, await auth.impersonation.start(asks(root), { userId: 'ada', reason: 'ticket 4711' }))
    await auth.audit.note(asks(root), { name: 'invoice.sent', outcome: 'success' })
    expect(await actor('invoice.sent')).toEqual({ type: 'user', id: 'ada', impersonator: 'root' })
    expect((await root.post('/buy')).status).toBe(204)
    expect(await actor('order.placed')).toEqual({ type: 'user', id: 'ada', impersonator: 'root' })
    await keep(root, await auth.impersonation.stop(asks(root)))
    await root.post('/buy')
    expect((await actor('order.placed'))?.impersonator).toBeUndefined()
    // The chain covers the name of the actor, also after the user was erased.
    expect((await auth.audit.verify()).faults).toEqual([])
    await auth.audit.erase({ userId: 'ada' })
    await auth.audit.flush()
    expect((await auth.audit.verify()).faults).toEqual([])
    await auth.close()
  })

  it('a note names the person, the key, or no actor, unless the host names one', async () => {
    const { auth, browser, asks, actor } = await world(strategy)
    const [ada, nobody] = [await browser('ada'), await browser()]
    const { key, id } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'k' })
    const note = async (request: Request, more: object = {}) => {
      await auth.audit.note(request, { name: 'report.read', outcome: 'success', ...more })
      return actor('report.read')
    }
    expect(await note(asks(ada))).toEqual({ type: 'user', id: 'ada' })
    expect(await note(asks(nobody, { 'x-api-key': key }))).toEqual({ type: 'machine', id })
    expect(await note(asks(nobody))).toEqual({ type: 'anonymous' })
    expect(await note(asks(ada), { actor: { type: 'system' } })).toEqual({ type: 'system' })
    await auth.close()
  })
})
