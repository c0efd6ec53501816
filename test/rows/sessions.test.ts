/** Rows 112, 129, 130, 156, 369: reading sessions through every door. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth } from 'authkernel'
import { baseConfig, Client } from '../_setup.ts'
import { createWorld, type Strategy } from './_world.ts'

const name = 'authkernel.session-token'
const strategies: Strategy[] = ['jwt', 'database']
/** Signed in, with the default updateAge unless `config` says otherwise. */
const signedIn = async (strategy: Strategy, config: AuthConfig = {}) => {
  const world = createWorld(strategy, 'whole', { session: { strategy }, callbacks: {}, ...config })
  await world.client.get(await world.toProvider('oidc'))
  return world
}
const requestOf = (client: Client) => new Request('http://localhost:3000/page', { headers: { cookie: client.cookieHeader() } })

describe.each(strategies)('%s', (strategy) => {
  it('row 130: read() hands the refreshed cookie to the caller that holds a response; session() does not extend', async () => {
    const world = await signedIn(strategy)
    // The recorder's jwt handlers change nothing, so that only age counts.
    world.options.runtime.advance(86_400_000)
    const plain = await world.auth.session(requestOf(world.client))
    const { session, headers } = await world.auth.read(requestOf(world.client))
    expect(Date.parse(session?.expires ?? '') - Date.parse(plain?.expires ?? '')).toBe(86_400_000)
    const [line = ''] = headers.getSetCookie()
    expect(line).toMatch(new RegExp(`^${name}=`))
    expect(line).toContain(`Expires=${new Date(session?.expires ?? '').toUTCString()}`)
  })

  it('rows 156, 122: every door tells the session event and asks the session callback', async () => {
    const world = await signedIn(strategy, { callbacks: {} })
    const told: string[] = []
    world.auth.hook('session', ({ session }) => (told.push('asked'), session))
    world.auth.on('session', () => void told.push('told'))
    await world.client.get('/session')
    await world.auth.session(requestOf(world.client))
    await world.auth.read(requestOf(world.client))
    await world.client.post('/session', { data: 'x' })
    expect(told).toEqual(['asked', 'told', 'asked', 'told', 'asked', 'told', 'asked', 'told'])
  })

  it('row 369: what a listener does to a user or a session reaches neither the store nor the answer', async () => {
    const world = createWorld(strategy, 'whole')
    const spoil = ({ user, session }: { user?: { name?: string }; session?: { user?: { name?: string } } }) => {
      if (user) user.name = 'Mallory'
      if (session?.user) session.user.name = 'Mallory'
    }
    for (const event of ['createUser', 'linkAccount', 'signIn', 'session'] as const) world.auth.on(event, spoil as never)
    await world.client.get(await world.toProvider('oidc'))
    expect(await world.client.session()).toMatchObject({ user: { name: 'Ann' } })
    expect([...world.data.users.values()].map((user) => user.name)).toEqual(['Ann'])
  })

  it('row 143: what the session callback returns is what the client sees, whole', async () => {
    const world = await signedIn(strategy)
    world.auth.hook('session', () => ({ expires: '2030-01-01T00:00:00.000Z', mine: { deep: [1] } }) as never)
    const expected = { expires: '2030-01-01T00:00:00.000Z', mine: { deep: [1] } }
    expect(await world.client.session()).toEqual(expected)
    expect(await world.auth.session(requestOf(world.client))).toEqual(expected)
  })

  it('row 371, 378: signed out is null in each way to read', async () => {
    const world = createWorld(strategy, 'whole')
    expect(await world.auth.session(new Request('http://localhost:3000'))).toBeNull()
    expect((await world.auth.read(new Request('http://localhost:3000'))).session).toBeNull()
    expect(await world.client.session()).toBeNull()
  })
})

it('row 112, D5: a read renews the token only when it is due, not on every call', async () => {
  const options = baseConfig({ providers: [{ id: 'c', name: 'C', type: 'credentials', authorize: () => ({ id: '1' }) }] })
  const client = new Client(createAuth(options))
  await client.post('/callback/c')
  const renewed = async () => (await client.get('/session')).headers.getSetCookie().some((line) => line.startsWith(name))
  expect([await renewed(), await renewed()]).toEqual([false, false])
  options.runtime.advance(86_400_000)
  expect([await renewed(), await renewed()]).toEqual([true, false])
})

describe('row 129: a lookup throws the configuration mistake, with its message', () => {
  const entryPoints: [string, (auth: ReturnType<typeof createAuth>, request: Request) => Promise<unknown>][] = [
    ['session', (auth, request) => auth.session(request)],
    ['read', (auth, request) => auth.read(request)],
    ['ready', (auth) => auth.ready()],
  ]
  it.each(entryPoints)('%s()', async (_name, door) => {
    const auth = createAuth(baseConfig({ secret: undefined }))
    await expect(door(auth, new Request('http://localhost:3000'))).rejects.toThrow(/no `secret`.*AUTH_SECRET/s)
  })

  it('an untrusted host too: never a truthy answer (GHSA-8fpg-xm3f-6cx3)', async () => {
    const auth = createAuth(baseConfig({ trustHost: false }))
    const request = new Request('http://localhost:3000', { headers: { cookie: `${name}=x` } })
    await expect(auth.session(request)).rejects.toMatchObject({ type: 'UntrustedHost' })
  })
})
