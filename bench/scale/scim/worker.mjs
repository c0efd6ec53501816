/** One process that serves a user by a session and by a key, until both were refused for two seconds. */
import { createHost, origin } from './host.mjs'

const { bundle, url, strategy } = JSON.parse(process.argv[2])
const { auth } = createHost(await import(bundle), { url, strategy, connections: 2 })
await auth.ready()
process.send({ ready: true })

process.on('message', async ({ cookie, key }) => {
  let lastServed = 0
  let count = 0
  const request = () => new Request(`${origin}/`, { headers: { cookie } })
  let refusedSince = Date.now()
  while (lastServed === 0 || Date.now() - refusedSince < 2_000) {
    const [session, byKey] = await Promise.all([auth.session(request()), auth.apiKeys.verify(new Request(`${origin}/`), key)])
    count += 2
    if (session || byKey) lastServed = refusedSince = Date.now()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  process.send({ lastServed, count })
})
process.on('disconnect', () => process.exit())
