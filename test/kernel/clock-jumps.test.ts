/** Clocks that jump: an hour, a day and years, back and ahead, between any two steps. */
import { createAuth } from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { LocalOp } from '../rows/_op.ts'
import { baseConfig, Client } from '../_setup.ts'

const hour = 3_600_000
const jumps = {
  'an hour back': -hour,
  'an hour ahead': hour,
  'a day back': -24 * hour,
  'a day ahead': 24 * hour,
  'ten years back': -87_600 * hour,
  'ten years ahead': 87_600 * hour,
}

function world(strategy: 'jwt' | 'database') {
  const base = baseConfig({ session: { strategy }, adapter: memoryAdapter() })
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const links: string[] = []
  const auth = createAuth({
    ...base,
    providers: [
      op.provider('oidc') as never,
      { id: 'mail', name: 'Mail', type: 'email', sendVerificationRequest: ({ url }: { url: string }) => void links.push(url) } as never,
      {
        id: 'credentials',
        name: 'Name',
        type: 'credentials',
        authorize: ({ user, password }: Record<string, unknown>) => (password === 'right' ? { id: String(user) } : null),
      } as never,
    ],
  })
  return { auth, op, links, runtime: base.runtime, client: new Client(auth) }
}

describe.each(['jwt', 'database'] as const)('%s', (strategy) => {
  describe.each(Object.entries(jumps))('%s', (_name, jump) => {
    it('in the middle of a sign-in at a provider: in, or an error page, and the next one works', async () => {
      const { op, client, runtime } = world(strategy)
      const back = op.authorize((await client.post('/signin/oidc')).headers.get('location') ?? '')
      runtime.advance(jump)
      const answer = await client.get(back)
      expect(answer.status).toBe(302)
      const again = op.authorize((await client.post('/signin/oidc')).headers.get('location') ?? '')
      await client.get(again)
      expect(await client.session()).toMatchObject({ user: { name: 'Ann' } })
    })

    it('a session and a link: signed out or the user, never a fault, and a link works once', async () => {
      const { auth, client, links, runtime } = world(strategy)
      await client.post('/signin/mail', { email: 'ada@example.com' })
      runtime.advance(jump)
      expect((await client.get(links[0]!)).status).toBe(302)
      expect((await new Client(auth).get(links[0]!)).headers.get('location')).toContain('error=Verification')
      runtime.advance(-jump)
      const read = await client.get('/session')
      expect(read.status).toBe(200)
      await client.post('/signin/mail', { email: 'eve@example.com' })
      await client.get(links.at(-1)!)
      expect(await client.session()).toMatchObject({ user: { email: 'eve@example.com' } })
    })

    it('the throttle lets the right password in again, and counts on', async () => {
      const { auth, runtime } = world(strategy)
      const attempt = async (password: string): Promise<number> =>
        (await new Client(auth).post('/callback/credentials', { user: 'ada', password })).status
      for (let at = 0; at < 12; at++) await attempt('wrong')
      expect(await attempt('right')).toBe(429)
      runtime.advance(jump)
      for (let at = 0; at < 12; at++) await attempt('wrong')
      expect(await attempt('right')).toBe(429)
      runtime.advance(Math.max(0, -jump) + 2 * hour)
      expect(await attempt('right')).toBe(302)
    })
  })
})
