/** Memory stays where it is over a million reads and requests. */
import { runInNewContext } from 'node:vm'
import { setFlagsFromString } from 'node:v8'
import { createAuth } from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { expect, it } from 'vitest'
import { Client, secret } from '../_setup.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in use after everything that can go has gone. */
async function inUse(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

it.each(['jwt', 'database'] as const)('a million requests, %s', { timeout: 1_800_000 }, async (strategy) => {
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter: memoryAdapter(),
    session: { strategy },
    providers: [{ id: 'credentials', name: 'Name', type: 'credentials', authorize: ({ user }) => (user === 'ada' ? { id: 'ada' } : null) }],
  })
  await memoryAdapter().createUser!({ id: 'ada', email: 'ada@example.com', emailVerified: null })
  const client = new Client(auth)
  await client.post('/callback/credentials', { user: 'ada' })
  const headers = { cookie: client.cookieHeader() }
  const round = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at++) {
      await auth.session(new Request('http://localhost:3000/', { headers }))
      // Strangers: cookies, paths and names that never come again.
      if (at % 10 === 0)
        await auth.handler(new Request(`http://localhost:3000/auth/${at}`, { headers: { cookie: `authkernel.session-token=${at}` } }))
      if (at % 10 === 5) await auth.handler(new Request('http://localhost:3000/auth/csrf'))
    }
  }
  await round(0, 50_000)
  const before = await inUse()
  await round(50_000, 1_000_000)
  const after = await inUse()
  expect(after - before).toBeLessThan(8 * 1024 * 1024)
})
