/** Forms of plugins that were refused keep what was typed, and neither a secret nor an address is in a URL. */
import { describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { everything } from './_every-plugin.ts'

async function world() {
  const { auth, store } = everything({ origin: 'http://localhost:3000' })
  for (const id of ['ada', 'bob', 'root']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date() })
  return async (user?: string): Promise<Client> => {
    const client = new Client(auth)
    if (user !== undefined) await client.post('/callback/credentials', { user })
    return client
  }
}

const newUser = { email: 'BOB@example.com', name: 'Another <Bob>', reason: 'ticket "7"', verified: 'yes' }
const cases: [path: string, user: string | undefined, fields: Record<string, string>, kept: string[]][] = [
  ['/account/address', 'ada', { email: 'broken' }, ['value="broken"']],
  ['/username', 'ada', { username: 'a b' }, ['value="a b"']],
  ['/passwords/reset', undefined, { email: 'broken' }, ['value="broken"']],
  ['/passwords/sign-up', undefined, { email: 'new@example.com', password: 'short' }, ['value="new@example.com"']],
  ['/admin/new', 'root', newUser, ['value="BOB@example.com"', 'value="Another &lt;Bob&gt;"', 'value="ticket &quot;7&quot;"', ' checked']],
  ['/admin/new', 'root', { ...newUser, as: 'invite' }, ['value="BOB@example.com"', 'name="as" value="invite"']],
  [
    '/admin/user',
    'root',
    { id: 'ada', action: 'updateUser', name: 'Countess', email: 'bob@example.com', reason: 'asked for' },
    ['value="Countess"', 'value="bob@example.com"', 'value="asked for"'],
  ],
]

describe('a form that is refused', () => {
  it.each(cases)('%s of %s keeps %j', async (path, user, fields, kept) => {
    const client = await (await world())(user)
    const answer = await client.post(path, fields)
    const page = await answer.text()
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    expect(page).toContain('role="alert"')
    expect(kept.filter((text) => !page.includes(text))).toEqual([])
    if (fields['password'] !== undefined) expect(page).not.toContain(`value="${fields['password']}"`)
  })

  it('writes no password back', async () => {
    const client = await (await world())('ada')
    const page = await (await client.post('/passwords/change', { current: 'hunter-of-old', password: 'short-one' })).text()
    expect(page).toContain('type="password"')
    for (const secret of ['hunter-of-old', 'short-one']) expect(page).not.toContain(secret)
  })

  it('is not filled in by a link', async () => {
    const client = await (await world())('root')
    const page = await (await client.get('/admin/new?email=planted%40example.com&name=planted&reason=planted&error=AdminRefused')).text()
    expect(page).not.toContain('planted')
  })
})
