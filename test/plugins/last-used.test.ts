/** The mark of the sign-in method that a browser used last: the id of a provider, and nothing about the user. */
import { createAuth } from 'authkernel'
import { lastUsedPlugin } from 'authkernel/plugins/last-used'
import { expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const credentials = (id: string, name: string) => ({
  id,
  name,
  type: 'credentials' as const,
  credentials: { user: { label: 'User' } },
  authorize: ({ user }: Record<string, unknown>) => (user === 'ada' ? { id: 'ada', name: 'Ada' } : null),
})

async function world(providers = [credentials('staff', 'Staff'), credentials('guests', 'Guests')]) {
  const auth = createAuth(baseConfig({ providers })).use(lastUsedPlugin())
  await auth.ready()
  return { auth, client: new Client(auth) }
}
const page = async (client: Client) => (await client.get('/signin')).text()
const marks = (text: string) => text.split('Last used on this browser').length - 1

it('stands beside the method that was used, after the sign-out too, and beside no other', async () => {
  const { client } = await world()
  expect(marks(await page(client))).toBe(0)
  const response = await client.post('/callback/guests', { user: 'ada' })
  const cookie = response.headers.getSetCookie().find((line) => line.includes('last-used'))
  expect(cookie).toMatch(/last-used=guests;.*HttpOnly/i)
  expect(cookie).not.toMatch(/ada/i)
  await client.post('/signout')
  const text = await page(client)
  expect(marks(text)).toBe(1)
  const form = text.split('<form').find((part) => part.includes('Last used on this browser'))
  expect(form).toContain('/callback/guests')
})

it('is not set by a failed sign-in, and is of this browser alone', async () => {
  const { auth, client } = await world()
  const response = await client.post('/callback/guests', { user: 'eve' })
  expect(response.headers.getSetCookie().join()).not.toContain('last-used')
  await client.post('/callback/staff', { user: 'ada' })
  expect(marks(await page(new Client(auth)))).toBe(0)
  expect(marks(await page(client))).toBe(1)
})

it('a value that names no provider marks nothing, and is not on the page', async () => {
  const { client } = await world()
  const text = await (await client.send('/signin', { headers: { cookie: 'authjs.last-used="><script>alert(1)</script>' } })).text()
  expect([marks(text), text.includes('alert(1)')]).toEqual([0, false])
})

it('a page with one method has no mark', async () => {
  const { client } = await world([credentials('staff', 'Staff')])
  await client.post('/callback/staff', { user: 'ada' })
  expect(marks(await page(client))).toBe(0)
})

it('speaks five languages, and checks its option', async () => {
  const { client } = await world()
  await client.post('/callback/staff', { user: 'ada' })
  for (const [language, text] of [
    ['de', 'Zuletzt in diesem Browser verwendet'],
    ['ja', 'このブラウザーで前回使用'],
  ] as const)
    expect(await (await client.send('/signin', { headers: { 'accept-language': language } })).text()).toContain(text)
  expect(() => lastUsedPlugin({ days: 500 })).toThrow(/`days` must be/)
})
