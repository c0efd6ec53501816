/** Settings of one request. */
import { describe, expect, it } from 'vitest'
import { createAuth, type AuthConfig } from 'authkernel'
import type { Settings } from 'authkernel/kernel'
import { baseConfig, Client } from '../_setup.ts'

const providers = [{ id: 'c', name: 'C', type: 'credentials' as const, authorize: () => ({ id: '1', name: 'Ann' }) }]
const make = (answer: (request: Request) => Partial<Settings> | undefined, config: AuthConfig = {}) => {
  const options = baseConfig({ providers, ...config })
  const auth = createAuth(options)
  auth.hook('settings', ({ request }) => answer(request))
  return { auth, options }
}
const tenant = 'the-secret-of-one-tenant-has-40-letters-'

describe('the settings hook', () => {
  it('changes secret, origin, base path and cookie prefix for one request', async () => {
    const { auth } = make(({ url }) =>
      url.includes('tenant')
        ? { secret: [tenant], origin: 'https://tenant.example', basePath: '/t/auth', cookiePrefix: 'tenant' }
        : undefined,
    )
    const inTenant = new Client(auth, 'http://tenant.internal', '/t/auth')
    await inTenant.post('/callback/c')
    expect([...inTenant.cookies.keys()].sort()).toEqual([
      '__Host-tenant.csrf-token',
      '__Secure-tenant.callback-url',
      '__Secure-tenant.session-token',
    ])
    expect(await inTenant.session()).toMatchObject({ user: { name: 'Ann' } })
    expect(await (await inTenant.get('/providers')).json()).toMatchObject({
      c: { callbackUrl: 'https://tenant.example/t/auth/callback/c' },
    })
    const outside = new Client(auth)
    expect(await outside.session()).toBeNull()
    expect((await outside.get('/session')).status).toBe(200)
  })

  it('a secret of the tenant alone is enough; without any answer and secret it is MissingSecret', async () => {
    const { auth, options } = make(({ url }) => (url.includes('tenant') ? { secret: [tenant] } : undefined), { secret: undefined })
    await auth.ready()
    expect((await new Client(auth, 'http://tenant.example').get('/csrf')).status).toBe(200)
    expect((await new Client(auth, 'http://other.example').get('/csrf')).status).toBe(500)
    expect(options.logger.errors.map(({ name }) => name)).toEqual(['MissingSecret'])
  })

  it.each([
    ['a short secret', { secret: ['short'] }],
    ['no secret at all', { secret: [] }],
    ['an origin with a path', { origin: 'https://tenant.example/x' }],
    ['an origin that is no URL', { origin: 'tenant' }],
  ])('D4: %s of a tenant is 500 without details, and logged', async (_name, answer) => {
    const { auth, options } = make(() => answer)
    const response = await new Client(auth).get('/session')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
    expect(options.logger.errors).toHaveLength(1)
    await expect(auth.session(new Request('http://localhost:3000'))).rejects.toThrow()
  })

  it('a hook that throws is 500 and logged, not a crash', async () => {
    const { auth, options } = make(() => {
      throw new Error('tenant database is down')
    })
    const response = await new Client(auth).get('/session')
    expect([response.status, await response.json()]).toEqual([500, expect.objectContaining({ message: expect.any(String) as string })])
    expect(options.logger.errors[0]?.message).toContain('tenant database is down')
  })

  it('the same object gives the same derived values: derived once', async () => {
    const answer = { secret: [tenant], cookiePrefix: 'tenant' }
    const { auth } = make(() => answer)
    const seen = new Set<unknown>()
    auth.hook('request', ({ ctx }) => {
      seen.add(ctx.settings)
      seen.add(ctx.cookies)
      return undefined
    })
    for (let i = 0; i < 5; i++) await new Client(auth).get('/session')
    expect(seen.size).toBe(2)
  })
})
