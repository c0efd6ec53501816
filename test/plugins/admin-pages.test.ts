/** Pages for administrators: what they show and do, and to whom. */
import { expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'

async function world(pages = true) {
  const base = baseConfig({
    session: { strategy: 'jwt', revocable: true },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const store = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(adminPlugin({ can: ({ admin, act }) => admin.id === 'root' || (admin.id === 'help' && ['list', 'get'].includes(act)), pages }))
  await auth.ready()
  for (const id of ['root', 'help', 'ada', '<i>eve</i>'])
    await store.createUser({
      id,
      email: `${id.replace(/\W/g, '')}@example.com`,
      name: id,
      emailVerified: id === 'ada' ? null : new Date(0),
    })
  const browser = async (user: string) => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  return { auth, store, browser }
}

it('list users, search by address, ban and unban, end sessions, verify an address', async () => {
  const { auth, store, browser } = await world()
  const [root, ada] = [await browser('root'), await browser('ada')]
  const page = await (await root.get('/admin')).text()
  expect(page).toContain('ada@example.com')
  expect(page).toContain('&lt;i&gt;eve')
  expect(page).not.toContain('<i>eve')
  const found = await (await root.get('/admin?email=AD')).text()
  expect([found.includes('ada@example.com'), found.includes('help@example.com')]).toEqual([true, false])
  const act = async (fields: Record<string, string>) =>
    (await root.post('/admin/user', { id: 'ada', reason: 'ticket 1', ...fields })).headers.get('location')
  expect(await act({ action: 'ban', until: '2099-01-01' })).toContain('done=1')
  expect(await ada.session()).toBeNull()
  expect((await auth.admin.get({ userId: 'root' }, 'ada'))?.ban).toMatchObject({
    reason: 'ticket 1',
    until: new Date('2099-01-01'),
    by: 'root',
  })
  expect(await (await root.get('/admin/user?id=ada')).text()).toContain('Banned: ticket 1')
  expect(await act({ action: 'unban' })).toContain('done=1')
  expect(await act({ action: 'verifyAddress' })).toContain('done=1')
  expect((await store.getUser('ada'))?.emailVerified).toBeInstanceOf(Date)
  const again = await browser('ada')
  expect(await act({ action: 'signOut' })).toContain('done=1')
  expect(await again.session()).toBeNull()
  for (const wrong of [
    { action: 'ban', until: 'x' },
    { action: 'ban', reason: '' },
    { action: 'ban', id: 'root' },
    { action: 'ban', id: 'gone' },
    { action: 'newFactor' },
  ])
    expect(await act(wrong)).toContain('error=AdminRefused')
  expect(await act({ action: '__proto__' })).not.toContain('done')
  expect(await (await root.get('/admin', { 'accept-language': 'fr' })).text()).toContain('Utilisateurs')
})

it('are for those whom `can` permits, with a token of the form, and absent without the option', async () => {
  const { auth, browser } = await world()
  const [help, ada] = [await browser('help'), await browser('ada')]
  expect([(await help.get('/admin')).status, (await help.get('/admin/user?id=ada')).status]).toEqual([200, 200])
  expect((await help.post('/admin/user', { id: 'ada', action: 'ban', reason: 'x' })).headers.get('location')).toContain(
    'error=AdminRefused',
  )
  for (const path of ['/admin', '/admin/user?id=root', '/admin/user?id=gone']) {
    const answer = await ada.get(path)
    expect([answer.status, (await answer.text()).includes('root@example.com')]).toEqual([403, false])
  }
  expect((await new Client(auth).get('/admin')).headers.get('location')).toContain('/signin')
  const body = new URLSearchParams({ id: 'ada', action: 'ban', reason: 'x' })
  const root = await browser('root')
  expect((await root.send('/admin/user', { method: 'POST', body })).headers.get('location')).toContain('MissingCSRF')
  expect((await auth.admin.get({ userId: 'root' }, 'ada'))?.ban).toBeNull()
  const plain = await world(false)
  expect((await (await plain.browser('root')).get('/admin')).status).toBe(400)
})
