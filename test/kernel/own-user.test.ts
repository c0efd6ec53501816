/** `findOwnUser`: what only the user may do refuses credentials in headers, and an actor in the session, in one way. */
import { expect, it } from 'vitest'
import { AccessDenied, type Plugin } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { createAuth } from 'authkernel'
import { baseConfig, Client } from '../_setup.ts'

const refusal = 'shop.pay: only for the session of the user, not for an API key, an app, or an administrator who acts as the user.'

/** A card in a header signs a request in as `of`, and pages answer who may pay. */
function shopPlugin(): Plugin {
  return {
    name: 'shop',
    setup(kernel) {
      kernel.credential((headers) => headers.get('x-card') ?? undefined, { header: 'x-card' })
      kernel.hook('authenticate', ({ ctx }) => {
        const id = ctx.request?.headers.get('x-card') ?? ctx.request?.headers.get('x-other')
        return id ? { user: { id }, expires: '2999-01-01T00:00:00.000Z' } : undefined
      })
      kernel.hook('session', ({ session, ctx }) =>
        ctx.request?.headers.has('x-acting')
          ? { ...session, actor: { id: 'root', name: null, reason: 'help', until: '2999-01-01T00:00:00.000Z' } }
          : session,
      )
      kernel.route({
        method: 'GET',
        path: '/pay',
        async handler(ctx) {
          const quiet = (await findOwnUser(ctx))?.id ?? null
          const loud = await findOwnUser(ctx, 'shop.pay').catch((error: unknown) => error)
          return Response.json([quiet, loud instanceof AccessDenied ? loud.message : ((loud as { id?: string } | null)?.id ?? null)])
        },
      })
    },
  }
}

it('is the user of the own session; null for a visitor; and refuses a credential, an actor and the session of another user', async () => {
  const auth = createAuth({
    ...baseConfig(),
    providers: [{ id: 'pw', type: 'credentials', name: 'Password', credentials: {}, authorize: () => ({ id: 'ada', name: 'Ada' }) }],
  }).use(shopPlugin())
  const [visitor, ada] = [new Client(auth), new Client(auth)]
  await ada.post('/callback/pw', { csrfToken: await ada.csrfToken() })
  const pay = async (client: Client, headers?: Record<string, string>) => (await client.get('/pay', headers)).json()
  expect(await pay(visitor)).toEqual([null, null])
  expect(await pay(ada)).toEqual(['ada', 'ada'])
  expect(await pay(visitor, { 'x-card': 'ada' })).toEqual([null, refusal])
  expect(await pay(ada, { 'x-card': 'ada' })).toEqual([null, refusal])
  expect(await pay(ada, { 'x-acting': 'yes' })).toEqual([null, refusal])
  // Recognized by other means than the cookie, which is of another user.
  expect(await pay(ada, { 'x-other': 'bob' })).toEqual([null, null])
})
