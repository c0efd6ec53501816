/** Deleting the own account on the account page: asked twice, proved afresh, told by mail. */
import { describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { baseConfig, Client } from '../_setup.ts'

async function world(strategy: 'jwt' | 'database') {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(postbox).use(stepUpPlugin()).use(apiKeysPlugin())
  await auth.ready()
  for (const id of ['ada', 'eve']) await adapter.createUser!({ id, name: id, email: `${id}@example.com`, emailVerified: new Date() })
  const signIn = async (user = 'ada') => {
    const client = new Client(auth)
    await client.post('/callback/credentials', { user })
    return client
  }
  return { auth, adapter, mails, signIn, runtime: base.runtime }
}
const where = (response: Response): string => new URL(response.headers.get('location')!, 'http://localhost:3000').pathname

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('everything goes, every session ends, and a notice leaves', async () => {
    const { adapter, mails, signIn } = await world(strategy)
    const [here, elsewhere] = [await signIn(), await signIn()]
    expect(await (await here.get('/account')).text()).toContain('/auth/account/delete')
    expect(await (await here.get('/account/delete')).text()).toContain('ada@example.com')
    expect(where(await here.post('/account/delete'))).toBe('/')
    expect([await here.session(), await elsewhere.session(), await adapter.getUser!('ada'), (await adapter.getUser!('eve'))?.id]).toEqual([
      null,
      null,
      null,
      'eve',
    ])
    // The mail goes after the answer.
    await vi.waitFor(() => expect(mails).toMatchObject([{ to: 'ada@example.com', subject: expect.stringContaining('was deleted') }]))
  })

  it('the page lists what goes, of this user alone, and a store that cannot tell does not prevent it', async () => {
    const { auth, adapter, signIn } = await world(strategy)
    for (const id of ['1', '2']) await adapter.linkAccount!({ userId: 'ada', type: 'oauth', provider: 'orbit', providerAccountId: id })
    await adapter.linkAccount!({ userId: 'eve', type: 'oauth', provider: 'orbit', providerAccountId: '3' })
    for (const name of ['one', 'two', 'three']) await auth.apiKeys.create({ userId: 'ada' }, { name })
    const [client] = [await signIn(), await signIn(), await signIn('eve')]
    const facts = async (): Promise<string[][]> => {
      const page = await (await client.get('/account/delete')).text()
      return [...page.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name = '', value = '']) => [name, value.replace(/<.*?>/g, '')])
    }
    expect(await facts()).toEqual([
      ['Profile', 'ada@example.com'],
      ['Sign-in methods', '2'],
      ['Devices and sessions', '2'],
      ['Other stored data', expect.stringMatching(/^[3-9]$/)],
    ])
    vi.spyOn(adapter, 'listAccountsByUserId').mockRejectedValue(new Error('down'))
    expect(await facts()).toEqual([])
    expect(await (await client.get('/account/delete')).text()).toContain('Delete my account')
  })

  it('a session of more than five minutes ago proves itself again', async () => {
    const { auth, adapter, signIn, runtime } = await world(strategy)
    const client = await signIn()
    runtime.advance(301_000)
    const answer = await client.post('/account/delete')
    expect(new URL(answer.headers.get('location')!).searchParams.get('callbackUrl')).toBe('http://localhost:3000/auth/account/delete')
    expect((await adapter.getUser!('ada'))?.id).toBe('ada')
    // A factor, where there is one, is asked instead of the sign-in page.
    auth.hook('stepUp', ({ ctx }) => new Response(null, { status: 302, headers: { location: `${ctx.base}/factor` } }))
    expect(where(await client.post('/account/delete'))).toBe('/auth/factor')
    expect((await adapter.getUser!('ada'))?.id).toBe('ada')
  })

  it('needs a session and the token of the page', async () => {
    const { auth, adapter, signIn } = await world(strategy)
    expect(where(await new Client(auth).post('/account/delete'))).toBe('/auth/signin')
    const client = await signIn()
    await client.send('/account/delete', { method: 'POST', headers: { origin: 'https://evil.example' }, body: new URLSearchParams() })
    expect((await adapter.getUser!('ada'))?.id).toBe('ada')
  })
})
