/** A deleted user has nothing left that signs in, whichever way the user is deleted and whatever the store can keep. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

/** Parks logins while `holds`, and goes on with them. */
function gate(): { plugin: Plugin; state: { holds: boolean } } {
  const state = { holds: false }
  const plugin: Plugin = {
    name: 'gate',
    setup(kernel) {
      kernel.hook('login', ({ login, ctx }) => (state.holds ? ctx.park(login, { to: '/gate', data: {} }) : undefined))
      kernel.route({
        method: 'POST',
        path: '/gate',
        async handler(ctx) {
          const parked = await ctx.parked()
          return parked ? ctx.resume(parked) : new Response('nothing waits')
        },
      })
    },
  }
  return { plugin, state }
}

async function world(session: { strategy: 'jwt' | 'database'; revocable?: boolean }, records: boolean, deleter: 'user' | 'administrator') {
  const { records: rows, ...rest } = memoryAdapter()
  const base = baseConfig({
    session,
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const { plugin, state } = gate()
  const auth = createAuth(base)
    .use(adapterPlugin(records ? { ...rest, records: rows } : rest))
    .use(accountsPlugin())
    .use(plugin)
  const keys = records ? createKeys(auth) : undefined
  if (deleter === 'administrator') auth.use(adminPlugin({ can: () => true }))
  await auth.ready()
  for (const id of ['root', 'ada']) await rest.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const signIn = async (): Promise<Client> => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user: 'ada' })
    return client
  }
  const open = await signIn()
  state.holds = true
  const parked = await signIn()
  state.holds = false
  const key = await keys?.create()
  const byKey = new Request('http://localhost:3000/', { headers: { 'x-api-key': key ?? '' } })
  const remove = () =>
    deleter === 'user'
      ? auth.users.delete({ userId: 'ada' })
      : (auth as unknown as AdminAuth).admin.deleteUser({ userId: 'root' }, 'ada', { reason: 'asked' })
  return { auth, open, parked, byKey, key, remove, rows }
}
// `use` changes the type of `auth`, and the statement above cannot.
type AdminAuth = ReturnType<typeof withAdmin>
const withAdmin = () => createAuth(baseConfig()).use(adminPlugin({ can: () => true }))

function createKeys(auth: { use(plugin: Plugin): unknown }) {
  const own = auth.use(apiKeysPlugin()) as ReturnType<typeof withKeys>
  return { create: async () => (await own.apiKeys.create({ userId: 'ada' }, { name: 'k' })).key }
}
const withKeys = () => createAuth(baseConfig()).use(apiKeysPlugin())

describe.each(['user', 'administrator'] as const)('deleted by the %s', (deleter) => {
  it.each([
    { strategy: 'database' as const, records: true },
    { strategy: 'jwt' as const, revocable: true, records: true },
    { strategy: 'jwt' as const, records: true },
    { strategy: 'database' as const, records: false },
    { strategy: 'jwt' as const, records: false },
  ])('$strategy, revocable $revocable, records $records', async ({ records, ...session }) => {
    const canEnd = session.strategy === 'database' || session.revocable === true
    // The console needs records and sessions that can be ended.
    if (deleter === 'administrator' && !(records && canEnd)) {
      await expect(world(session, records, deleter)).rejects.toThrow('admin')
      return
    }
    const { auth, open, parked, byKey, key, remove, rows } = await world(session, records, deleter)
    expect(await open.session()).not.toBeNull()
    if (key) expect(await auth.session(byKey)).not.toBeNull()
    await remove()
    await parked.post('/gate')
    expect(await parked.session()).toBeNull()
    if (key) expect(await auth.session(byKey)).toBeNull()
    // A token that cannot be revoked lives until it ends.
    if (canEnd) expect(await open.session()).toBeNull()
    if (rows) expect(await auth.accounts.list({ userId: 'ada' })).toEqual([])
  })
})
