import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { baseConfig, Client } from '../_setup.ts'

const authorize = () => ({ id: '1', name: 'Ann' })

describe('tenantsPlugin', () => {
  const make = () =>
    createAuth({ ...baseConfig(), secret: undefined })
      .use(credentialsPlugin())
      .use(
        tenantsPlugin({
          settings(request) {
            const tenant = new URL(request.url).hostname.split('.')[0] ?? ''
            return { namespace: tenant, secret: [`secret-of-${tenant}-`.repeat(4)], origin: `https://${tenant}.example` }
          },
          provider: (id) => (id === 'dynamic' ? { id, name: 'Dynamic', type: 'credentials', authorize } : undefined),
          providers: (ctx) => [{ id: 'dynamic', name: `Sign-in of ${new URL(ctx.origin).hostname}`, type: 'credentials', authorize }],
        }),
      )

  it('row 332: secrets, origin and providers follow the request', async () => {
    const auth = make()
    await auth.ready()
    const one = new Client(auth, 'http://one.internal')
    expect(await (await one.get('/providers')).json()).toEqual({
      dynamic: {
        id: 'dynamic',
        name: 'Sign-in of one.example',
        type: 'credentials',
        signinUrl: 'https://one.example/auth/signin/dynamic',
        callbackUrl: 'https://one.example/auth/callback/dynamic',
        form: { hidden: true, post: 'callback' },
      },
    })
    expect((await one.post('/callback/dynamic')).headers.get('location')).toBe('https://one.example')
    expect(await one.session()).toMatchObject({ user: { name: 'Ann' } })
    const two = new Client(auth, 'http://two.internal')
    for (const [name, value] of one.cookies) two.cookies.set(name, value)
    expect(await two.session()).toBeNull()
  })

  it('equal answers are one object, so that what is derived from them is made once', async () => {
    const auth = make()
    const seen = new Set<unknown>()
    auth.hook('request', ({ ctx }) => void seen.add(ctx.settings))
    for (let i = 0; i < 5; i++) await new Client(auth, `http://t${i % 2}.internal`).get('/session')
    expect(seen.size).toBe(2)
  })

  it('a tenant with a short secret is a configuration error of its requests only', async () => {
    const auth = createAuth(baseConfig()).use(
      tenantsPlugin({ settings: (request) => (request.url.includes('bad') ? { namespace: 'bad', secret: ['short'] } : undefined) }),
    )
    expect((await new Client(auth, 'http://bad.internal').get('/session')).status).toBe(500)
    expect((await new Client(auth, 'http://good.internal').get('/session')).status).toBe(200)
  })
})
