/** The page on which users change their profile: what it takes, what it refuses and keeps, and who does not reach it. */
import { createAuth } from 'authkernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const additionalFields = {
  nickname: { type: 'string', editable: true },
  age: { type: 'number', editable: true },
  news: { type: 'boolean', editable: true },
  rating: { type: 'number' },
} as const

async function world(accountSection = true) {
  const data = memoryData()
  const store = { ...memoryAdapter(data), additionalFields }
  const auth = createAuth(
    baseConfig({
      session: { strategy: 'database' },
      providers: [
        { id: 'credentials', name: 'Name', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
      ],
    }),
  )
    .use(adapterPlugin(store))
    .use(accountsPlugin({ accountSection }))
    .use(apiKeysPlugin())
    .use(impersonationPlugin({ can: ({ admin }) => admin.id === 'root' }))
  await auth.ready()
  for (const id of ['ada', 'root']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date() })
  const browser = async (user?: string): Promise<Client> => {
    const client = new Client(auth)
    if (user !== undefined) await client.post('/callback/credentials', { user })
    return client
  }
  return { auth, browser, ada: () => data.users.get('ada') as unknown as Record<string, unknown> }
}

it('users change their name, picture and editable fields, and clear them', async () => {
  const { browser, ada } = await world()
  const client = await browser('ada')
  expect(await (await client.get('/account')).text()).toContain('href="http://localhost:3000/auth/account/profile"')
  const page = await (await client.get('/account/profile')).text()
  for (const name of ['name', 'image', 'field.nickname', 'field.age', 'field.news']) expect(page).toContain(`name="${name}"`)
  expect(page).not.toContain('rating')
  const fields = {
    name: ' Ada Lovelace ',
    image: 'https://pictures.example/ada.png',
    'field.nickname': 'Countess',
    'field.age': '36',
    'field.news': 'yes',
  }
  const saved = await client.post('/account/profile', {
    action: 'profile',
    ...fields,
    'field.rating': '5',
    email: 'eve@example.com',
    id: 'root',
  })
  expect(saved.headers.get('location')).toBe('http://localhost:3000/auth/account?done=#profile')
  const now = { name: 'Ada Lovelace', image: fields.image, nickname: 'Countess', age: 36, news: true, email: 'ada@example.com' }
  expect(ada()).toMatchObject(now)
  expect(ada()['rating'] ?? null).toBeNull()
  expect((await client.session())?.user).toMatchObject({ name: 'Ada Lovelace', image: fields.image })
  await client.post('/account/profile', { name: '', image: '', 'field.nickname': '', 'field.age': '' })
  expect(ada()).toMatchObject({ name: null, image: null, nickname: null, age: null, news: false })
})

it.each([
  ['image', 'javascript:alert(1)', 'image'],
  ['image', 'http:', 'image'],
  ['name', 'x'.repeat(201), 'name'],
  ['field.nickname', 'x'.repeat(256), 'nickname'],
  ['field.age', 'many', 'age'],
])('a wrong %s is refused beside its field, what was typed is kept, and nothing is saved', async (input, value, field) => {
  const { browser, ada } = await world()
  const client = await browser('ada')
  const before = { ...ada() }
  const fields = {
    action: 'profile',
    name: 'Typed',
    image: 'https://p.example/a',
    'field.nickname': 'Typed too',
    'field.news': 'yes',
    [input]: value,
  }
  const answer = await client.post('/account/profile', fields)
  const page = await answer.text()
  expect(answer.status).toBe(400)
  expect(page).toContain(`aria-describedby="reason-${field}"`)
  expect(page).toContain(`id="reason-${field}"`)
  for (const text of Object.values({ ...fields, action: 'profile', 'field.news': 'yes' })) expect(page).toContain(`value="${text}"`)
  expect(page).toMatch(/name="field\.news"\s+value="yes"\s+checked/)
  expect(ada()).toEqual(before)
})

it('is for the user alone: not when signed out, not for keys and administrators who act as the user, and not without the option', async () => {
  const { auth, browser, ada } = await world()
  const root = await browser('root')
  const request = new Request('http://localhost:3000/', { headers: { cookie: root.cookieHeader() } })
  const acting = await auth.impersonation.start(request, { userId: 'ada', reason: 'ticket' })
  for (const line of acting.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value !== '') root.cookies.set(name, value)
  }
  expect((await root.session())?.user).toMatchObject({ name: 'ada' })
  for (const client of [await browser(), root]) {
    const drawn = await client.get('/account/profile')
    expect([drawn.status, drawn.headers.get('location')?.includes('/signin')]).toEqual([302, true])
    expect((await client.post('/account/profile', { name: 'Mallory' })).status).toBe(302)
  }
  const { key } = await auth.apiKeys.create({ userId: 'ada' }, { name: 'Robot' })
  const bearing = await (await browser()).get('/account/profile', { authorization: `Bearer ${key}` })
  expect(bearing.status).not.toBe(200)
  expect(ada()['name']).toBe('ada')
  const without = await world(false)
  const client = await without.browser('ada')
  // As for every unknown path.
  expect((await client.get('/account/profile')).status).toBe(400)
  expect(await (await client.get('/account')).text()).not.toContain('/account/profile')
})

it('asks for the token of its form', async () => {
  const { browser, ada } = await world()
  const client = await browser('ada')
  const body = new URLSearchParams({ name: 'Mallory' })
  await client.send('/account/profile', { method: 'POST', body, headers: { origin: 'https://evil.example' } })
  expect(ada()['name']).toBe('ada')
})
