/** A passkey as the second factor: asked for by id, of the person who waits, once per challenge. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { emailCode, passkey, totp, type TwoFactorOptions, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { baseConfig, Client } from '../_setup.ts'
import { Authenticator, type Bend, type CreationOptions, type RequestOptions } from './_authenticator.ts'

const origin = 'http://localhost:3000'

async function world(options: TwoFactorOptions = { factors: [totp(), passkey()] }, strategy: 'jwt' | 'database' = 'database') {
  const base = baseConfig({
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        credentials: { user: {} },
        authorize: ({ user }: Record<string, unknown>) => ({ id: String(user), name: String(user) }),
      } as never,
    ],
  })
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(twoFactorPlugin(options))
  await auth.ready()
  for (const id of ['ada', 'eve']) await adapter.createUser!({ id, name: id, email: `${id}@example.com`, emailVerified: null })
  const signIn = async (user = 'ada', client = new Client(auth)) => {
    await client.post('/callback/credentials', { user, callbackUrl: '/app' })
    return client
  }
  const ceremony = async (client: Client, purpose: string) => {
    const response = await client.get(`/two-factor/passkey?purpose=${purpose}`)
    return { status: response.status, ...((await response.json()) as { options: CreationOptions & RequestOptions }) }
  }
  const enrol = async (client: Client, key = new Authenticator(origin), bend: Bend = {}) => {
    const { options } = await ceremony(client, 'add')
    const answer = await client.post('/two-factor/setup', { action: 'register', data: key.create(options, bend) })
    return { key, answer, text: await answer.text() }
  }
  const prove = async (client: Client, key: Authenticator, bend: Bend = {}) => {
    const { options } = await ceremony(client, 'ask')
    const data = key.get(options, bend)
    return { data, response: await client.post('/two-factor', { action: 'authenticate', data }) }
  }
  return { auth, signIn, ceremony, enrol, prove, runtime: base.runtime }
}

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('is added with backup codes, asked for after a password, and proves two factors', async () => {
    const { auth, signIn, enrol, prove, ceremony } = await world(undefined, strategy)
    const { key, text } = await enrol(await signIn())
    expect(text.match(/<li><code>/g)).toHaveLength(10)
    const client = await signIn()
    expect(await client.session()).toBeNull()
    const { options } = await ceremony(client, 'ask')
    expect(options.allowCredentials?.map(({ id }) => id)).toEqual([key.id.toString('base64url')])
    const { response } = await prove(client, key)
    expect(new URL(response.headers.get('location')!, origin).pathname).toBe('/app')
    expect((await client.session())?.user?.name).toBe('ada')
    const listed = await auth.twoFactor.list(new Request(`${origin}/x`, { headers: { cookie: client.cookieHeader() } }))
    expect(listed.map(({ kind }) => kind)).toEqual(['passkey'])
  })
})

it('a key of another user, another origin, a replay and a cloned key are refused', async () => {
  const { signIn, enrol, prove } = await world()
  const { key } = await enrol(await signIn())
  const eve = await enrol(await signIn('eve'))
  const client = await signIn()
  await prove(client, eve.key)
  await prove(client, key, { origin: 'https://evil.example' })
  expect(await client.session()).toBeNull()
  const { data } = await prove(client, key)
  expect((await client.session())?.user?.name).toBe('ada')
  const second = await signIn()
  await second.post('/two-factor', { action: 'authenticate', data })
  expect(await second.session()).toBeNull()
  await prove(second, key, { counter: 1 })
  expect(await second.session()).toBeNull()
})

it('no browser gets options without a first factor, and a challenge of one browser means nothing in another', async () => {
  const { auth, signIn, enrol, ceremony } = await world()
  const { key } = await enrol(await signIn())
  expect((await ceremony(new Client(auth), 'ask')).status).toBe(400)
  expect((await ceremony(new Client(auth), 'add')).status).toBe(400)
  const [one, two] = [await signIn(), await signIn()]
  const { options } = await ceremony(one, 'ask')
  await two.post('/two-factor', { action: 'authenticate', data: key.get(options) })
  expect(await two.session()).toBeNull()
  // A login that waits for a factor is no ground to add another one.
  expect((await ceremony(one, 'add')).status).toBe(400)
})

it('of four answers at the same moment one signs in, and five wrong ones end the sign-in', async () => {
  const { signIn, enrol, ceremony } = await world()
  const { key } = await enrol(await signIn())
  const client = await signIn()
  const { options } = await ceremony(client, 'ask')
  const data = key.get(options)
  const answers = await Promise.all(Array.from({ length: 4 }, () => client.post('/two-factor', { action: 'authenticate', data })))
  const landed = answers.filter((answer) => answer.status === 302 && new URL(answer.headers.get('location')!, origin).pathname === '/app')
  expect(landed).toHaveLength(1)
  const other = await signIn()
  for (let i = 0; i < 5; i++) await other.post('/two-factor', { action: 'authenticate', data: 'nonsense' })
  const last = await other.post('/two-factor', { action: 'authenticate', data: 'nonsense' })
  expect(last.headers.get('location')).toContain('TooManySecondFactors')
})

it('backup codes work beside a key, and removing the last key removes them', async () => {
  const { auth, signIn, enrol, prove } = await world({ factors: [passkey()] })
  const first = await signIn()
  const { key, text } = await enrol(first)
  const code = /<li><code>([A-Z2-9-]{11})/.exec(text)![1]!
  const client = await signIn()
  await client.post('/two-factor', { code })
  expect((await client.session())?.user?.name).toBe('ada')
  const third = await signIn()
  await prove(third, key)
  const page = await (await third.get('/two-factor/setup')).text()
  const id = /name="action" value="remove"[^]*?name="id" value="([^"]+)"/.exec(page)?.[1] ?? /name="id" value="([^"]+)"/.exec(page)![1]!
  await third.post('/two-factor/setup', { action: 'remove', id })
  expect([await auth.twoFactor.list({ userId: 'ada' }), await auth.twoFactor.backupCodes({ userId: 'ada' })]).toEqual([[], 0])
})

it('a key that is registered twice, and a key without presence of its challenge, are refused', async () => {
  const { signIn, enrol, auth } = await world()
  const client = await signIn()
  const { key } = await enrol(client)
  expect((await enrol(client, key)).text).toContain('role="alert"')
  expect((await enrol(client, undefined, { challenge: 'AAAA' })).text).toContain('role="alert"')
  expect(await auth.twoFactor.list({ userId: 'ada' })).toHaveLength(1)
})

it('a code by mail alone is still no factor; without passkey() there is no route', async () => {
  expect(() => twoFactorPlugin({ factors: [emailCode()] })).toThrow('totp() or passkey()')
  const { signIn, auth } = await world({ factors: [totp()] })
  expect((await (await signIn()).get('/two-factor/passkey?purpose=add')).status).not.toBe(200)
  expect(await auth.twoFactor.list({ userId: 'ada' })).toEqual([])
})
