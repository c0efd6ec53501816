/** Acting as a user from the console: who may, with a reason and a fresh proof, and the way back. */
import { createAuth } from 'authkernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

async function world(strategy: 'jwt' | 'database', acting = true) {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [{ id: 'pw', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) }],
  })
  const store = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(accountsPlugin())
    .use(adminPlugin({ roles: { helper: ['list', 'get', 'impersonate'] }, administrators: ['root'], pages: true }))
  if (acting) auth.use(impersonationPlugin({ can: ({ user }) => user.id !== 'boss' }))
  const acts: string[] = []
  auth.on('adminAct', ({ act, admin, user, reason }) => void acts.push(`${act} ${admin.id} ${user.id} ${reason}`))
  await auth.ready()
  for (const id of ['root', 'help', 'reader', 'ada', 'boss'])
    await store.createUser({ id, email: `${id}@mail.example`, name: id, emailVerified: new Date(0) })
  await auth.admin.setRole({ userId: 'root' }, 'help', { role: 'helper', reason: 'x' })
  await auth.admin.setRole({ userId: 'root' }, 'reader', { role: 'reader', reason: 'x' })
  acts.length = 0
  const browser = async (user: string): Promise<Client> => {
    const client = new Client(auth)
    await client.post('/callback/pw', { user })
    return client
  }
  const start = (client: Client, id = 'ada', reason = 'ticket 7'): Promise<Response> =>
    client.post('/admin/user', { id, action: 'impersonate', reason })
  const who = async (client: Client): Promise<unknown> => {
    const session = await client.session()
    return session && [session.user?.['id'], (session as { actor?: { id: string } }).actor?.id]
  }
  return { auth, browser, start, who, acts, runtime: base.runtime }
}

describe.each(['jwt', 'database'] as const)('acting as a user from the console, %s', (strategy) => {
  it('asks in a dialog, begins with a reason, and ends with the own session', async () => {
    const { browser, start, who, acts } = await world(strategy)
    const root = await browser('root')
    expect(await (await root.get('/admin/user?id=ada')).text()).toContain('Act as this user')
    expect(await (await root.get('/admin/act?id=ada&act=impersonate')).text()).toContain('name="reason"')
    const response = await start(root)
    expect(response.headers.get('location')).toBe('http://localhost:3000/')
    expect(await who(root)).toEqual(['ada', 'root'])
    expect(acts).toEqual(['impersonate root ada ticket 7'])
    // As the user the console is closed.
    expect((await root.get('/admin')).status).not.toBe(200)
    await root.post('/impersonation/stop')
    expect(await who(root)).toEqual(['root', undefined])
  })

  it('needs the act, a reason, the answer of the plugin, and a fresh proof', async () => {
    const { browser, start, who, acts, runtime } = await world(strategy)
    const [reader, help, ada] = [await browser('reader'), await browser('help'), await browser('ada')]
    expect(await (await reader.get('/admin/user?id=ada')).text()).not.toContain('Act as this user')
    for (const client of [reader, ada]) {
      expect((await start(client, 'help')).headers.get('location')).not.toBe('http://localhost:3000/')
      expect(await who(client)).not.toContain('help')
    }
    // An administrator with more rights, one that `can` of the plugin protects, without a reason, oneself, and no user.
    for (const [id, reason] of [['root'], ['boss'], ['ada', ' '], ['help'], ['gone']] as const) {
      const place = (await start(help, id, reason ?? 'ticket 7')).headers.get('location')
      expect([id, place]).toEqual([id, expect.stringContaining('error=AdminRefused')])
    }
    expect(await who(help)).toEqual(['help', undefined])
    runtime.advance(301_000)
    expect(new URL((await start(help)).headers.get('location')!).pathname).toBe('/auth/signin')
    expect([await who(help), acts]).toEqual([['help', undefined], []])
  })
})

it('without impersonationPlugin there is no button, and the call says what is missing', async () => {
  const { auth, browser } = await world('jwt', false)
  const root = await browser('root')
  expect(await (await root.get('/admin/user?id=ada')).text()).not.toContain('Act as this user')
  const request = new Request('http://localhost:3000/', { headers: { cookie: root.cookieHeader() } })
  await expect(auth.admin.impersonate(request, 'ada', { reason: 'x' })).rejects.toThrow('Use impersonationPlugin')
})
