/** The hook `response`, and the salt of keys: what plugins for other products stand on. */
import { createAuth } from 'authkernel'
import { definePlugin } from 'authkernel/kernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { describe, expect, it, vi } from 'vitest'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'

const password = credentialsPlugin({ authorize: ({ password: typed }) => (typed === 'right' ? { id: '1', name: 'Ada' } : null) })
const make = (config: object = {}) => createAuth({ ...baseConfig({ logger: recordingLogger() }), ...config }).use(password)
const outsidePath = 'https://app.example/elsewhere'

describe('the hook `response`', () => {
  it('sees every answer: of a route, of a failure, of a wrong method and of a path that is none', async () => {
    const auth = make()
    const seen: [string | undefined, number][] = []
    auth.hook('response', ({ response, ctx }) => void seen.push([ctx.route?.path, response.status]))
    const client = new Client(auth)
    await client.get('/session')
    await client.post('/callback/credentials', { password: 'wrong' })
    await client.get('/nowhere')
    await auth.handler(new Request(outsidePath))
    expect(seen.filter(([path]) => path !== '/csrf')).toEqual([
      ['/session', 200],
      ['/callback/:provider', 302],
      [undefined, 400],
      [undefined, 400],
    ])
  })

  it('cookies and cache headers of the request are on the answer that it gives', async () => {
    const auth = make()
    auth.hook('response', ({ response, ctx }) =>
      ctx.route?.flow === 'callback' && response.headers.has('location') ? Response.json({ shaped: true }, { status: 201 }) : undefined,
    )
    const client = new Client(auth)
    const response = await client.post('/callback/credentials', { password: 'right' })
    expect([response.status, await response.json(), response.headers.get('cache-control')]).toEqual([
      201,
      { shaped: true },
      'private, no-store',
    ])
    expect((await client.session())?.user?.name).toBe('Ada')
  })

  it('a failing handler is logged, and the answer stays; a hanging one holds nothing back', async () => {
    const logger = recordingLogger()
    const auth = make({ logger, deadlines: { store: 50 } })
    const handler = vi.fn<() => never>(() => {
      throw new Error('no form')
    })
    const off = auth.hook('response', handler)
    const client = new Client(auth)
    expect((await client.get('/session')).status).toBe(200)
    expect(handler).toHaveBeenCalledTimes(1)
    expect(logger.errors.map(({ message }) => message)).toContain('no form')
    off()
    auth.hook('response', () => new Promise<never>(() => {}))
    expect((await client.get('/session')).status).toBe(200)
  })
})

it('`keySalt` decides what a sealed value is bound to beside its purpose', async () => {
  const shared = (keySalt?: (purpose: string) => string) =>
    definePlugin({
      name: 'salted',
      setup(kernel) {
        kernel.defaults({ keyInfo: () => 'one info for all', ...(keySalt && { keySalt }) })
        return {
          salted: {
            seal: async (purpose: string) => (await kernel.contextOf({ job: 'seal' })).seal(purpose, { sub: '1' }, 60),
            open: async (purpose: string, token: string) => (await kernel.contextOf({ job: 'open' })).open(purpose, token),
          },
        }
      },
    })
  const plain = make().use(shared())
  const salted = make().use(shared(() => ''))
  const token = await plain.salted.seal('one')
  expect(await plain.salted.open('one', token)).toMatchObject({ sub: '1' })
  expect(await plain.salted.open('two', token)).toBeNull()
  expect(await salted.salted.open('one', token)).toBeNull()
  expect(await salted.salted.open('two', await salted.salted.seal('one'))).toMatchObject({ sub: '1' })
})
