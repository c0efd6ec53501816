/** The demo account of `authkernel init`: on the developer's machine, and nowhere else. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth } from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { demoAccount } from 'authkernel/plugins/credentials'
import { baseConfig, Client } from '../_setup.ts'

const typed = { username: 'demo', password: 'demo' }

async function signIn(origin: string, development: boolean | undefined, config: AuthConfig = {}, headers: Record<string, string> = {}) {
  const auth = createAuth(baseConfig({ providers: [demoAccount({ development })], ...config }))
  const client = new Client(auth, origin)
  await client.post('/callback/demo', typed, headers)
  return (await client.session())?.user?.name
}

describe('the demo account', () => {
  it('has a session in the database where there is one: the same stored user each time', async () => {
    const adapter = memoryAdapter()
    expect(await signIn('http://localhost:3000', true, { adapter })).toBe('Demo')
    expect(await signIn('http://localhost:3000', true, { adapter })).toBe('Demo')
    const user = await adapter.getUserByEmail('demo@authkernel.invalid')
    expect(await adapter.listSessionsByUserId(user?.id ?? '')).toHaveLength(2)
    expect(await signIn('https://evil.example', true, { adapter: memoryAdapter() })).toBeUndefined()
  })

  it.each(['http://localhost:3000', 'http://127.0.0.1:5173', 'http://[::1]:3000', 'http://app.localhost'])(
    'signs in at %s in development',
    async (origin) => {
      expect(await signIn(origin, true)).toBe('Demo')
    },
  )

  it.each([false, undefined, 'yes' as never, 1 as never])(
    'signs no user in where `development` is %s, and shows no form',
    async (development) => {
      expect(await signIn('http://localhost:3000', development)).toBeUndefined()
      const auth = createAuth(baseConfig({ providers: [demoAccount({ development })] }))
      expect(await (await new Client(auth).get('/signin')).text()).not.toContain('name="password"')
    },
  )

  it.each([
    ['another host', 'https://evil.example', {}, {}],
    ['an address of the network', 'http://192.168.1.5:3000', {}, {}],
    ['a configured origin', 'http://localhost:3000', { origin: 'https://app.example' }, {}],
    ['a proxy that names another host', 'http://localhost:3000', {}, { 'x-forwarded-host': 'app.example' }],
    [
      'a proxy that names another host in the standard header',
      'http://localhost:3000',
      {},
      { forwarded: 'for=1.2.3.4;host="app.example"' },
    ],
  ] as [string, string, AuthConfig, Record<string, string>][])('signs no user in at %s', async (_what, origin, config, headers) => {
    expect(await signIn(origin, true, config, headers)).toBeUndefined()
  })

  it('is named by ready()', async () => {
    const options = baseConfig({ providers: [demoAccount({ development: false })] })
    await createAuth(options).ready()
    expect(options.logger.warnings).toEqual(['demo-account'])
  })
})
