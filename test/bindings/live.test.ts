/** Real sockets of `ws` and streams of events over HTTP, in one process. Two processes: `live.deep.test.ts`. */
import { createAuth } from 'authkernel'
import { type Live, type LiveApi, liveBinding, type SocketLike } from 'authkernel/bindings/live'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { bindingConfig, signedIn } from 'authkernel/testing'
import { afterEach, expect, it } from 'vitest'
import { openEvents, openSocket, say } from './_live-client.ts'
import { serveLive } from './_live.ts'

const every = 0.2
let close: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(close.map((end) => end()))
  close = []
})

function open(more: Parameters<typeof bindingConfig>[0] = {}, options = {}) {
  const adapter = memoryAdapter()
  const auth = createAuth(bindingConfig({ adapter, session: { strategy: 'database' }, ...more })).use(liveBinding({ every, ...options }))
  return { auth, adapter }
}
async function start(live: LiveApi): Promise<{ port: number; origin: string }> {
  const { port, close: end } = await serveLive(live)
  close.push(end)
  return { port, origin: `http://127.0.0.1:${port}` }
}
const tokenOf = (cookie: string): string => decodeURIComponent(/session-token=([^;]+)/.exec(cookie)![1]!)

it('a socket and a stream end after sign-out, those of others stay', async () => {
  const { auth, adapter } = open()
  const { port, origin } = await start(auth.live)
  const ada = { cookie: await signedIn(auth, { name: 'Ada', email: 'ada@example.com' }), origin }
  const ben = { cookie: await signedIn(auth, { name: 'Ben', email: 'ben@example.com' }), origin }
  const [socket, events, other] = [await openSocket(port, ada), await openEvents(port, ada), await openSocket(port, ben)]
  expect([await say(socket.socket, 'hi'), events.first]).toEqual(['Ada: hi', 'data: Ada\n\n'])
  const since = performance.now()
  await adapter.deleteSession!(tokenOf(ada.cookie))
  const [closed, over] = await Promise.all([socket.ended, events.ended])
  expect([closed.how, over.how]).toEqual([4401, 'event: session-end\ndata: session\n\n'])
  // `every`, and the time of a loaded machine.
  expect(Math.max(closed.after(since), over.after(since))).toBeLessThan(every * 1000 + 1500)
  expect(await say(other.socket, 'still')).toBe('Ben: still')
})

it('no session is 401, a page of another origin 403, of an origin that may connect not', async () => {
  const { auth } = open({}, { origins: ['https://app.example'] })
  const { port, origin } = await start(auth.live)
  const cookie = await signedIn(auth, { name: 'Ada', email: 'ada@example.com' })
  await expect(openSocket(port, { origin })).rejects.toThrow('status 401')
  await expect(openEvents(port, {})).rejects.toThrow('status 401')
  await expect(openSocket(port, { cookie, origin: 'https://evil.example' })).rejects.toThrow('status 403')
  await expect(openEvents(port, { cookie, origin: 'null' })).rejects.toThrow('status 403')
  const { socket } = await openSocket(port, { cookie, origin: 'https://app.example' })
  expect(await say(socket, 'hi')).toBe('Ada: hi')
})

it('a jwt session ends at its expiry', async () => {
  const { auth } = open({ adapter: undefined, session: { strategy: 'jwt', maxAge: 1 } })
  const { port } = await start(auth.live)
  const { ended } = await openEvents(port, { cookie: await signedIn(auth, { id: 'ada', name: 'Ada' }) })
  expect((await ended).how).toContain('session-end')
})

it('a store that is down ends connections after `staleAfter`, one that comes back does not', async () => {
  const { auth, adapter } = open({}, { staleAfter: 1 })
  const cookie = await signedIn(auth, { name: 'Ada', email: 'ada@example.com' })
  const live = (await auth.live.open(new Request('http://localhost:3000/', { headers: { cookie } }))) as Live
  const read = adapter.getSessionAndUser!
  const fail = (): Promise<never> => Promise.reject(new Error('down'))
  adapter.getSessionAndUser = fail
  await expect(live.check()).rejects.toThrow()
  adapter.getSessionAndUser = read
  expect(await live.check()).toMatchObject({ user: { name: 'Ada' } })
  expect(live.ended.aborted).toBe(false)
  adapter.getSessionAndUser = fail
  const reason = await new Promise((resolve) => live.ended.addEventListener('abort', () => resolve(live.ended.reason)))
  expect([reason, await live.check()]).toEqual(['store', null])
})

it('`check` before an action sees the end at once, and a stopped connection is read no more', async () => {
  const { auth, adapter } = open()
  const cookie = await signedIn(auth, { name: 'Ada', email: 'ada@example.com' })
  const request = new Request('http://localhost:3000/', { headers: { cookie } })
  const [first, second] = [(await auth.live.open(request)) as Live, (await auth.live.open(request)) as Live]
  let reads = 0
  const read = adapter.getSessionAndUser!
  adapter.getSessionAndUser = (token) => (reads++, read.call(adapter, token))
  second.stop()
  await adapter.deleteSession!(tokenOf(cookie))
  expect([await first.check(), first.ended.reason, reads]).toEqual([null, 'session', 1])
  await new Promise((resolve) => setTimeout(resolve, every * 2000))
  expect([reads, second.ended.aborted]).toEqual([1, false])
})

it('sockets of other runtimes: `close` of the socket stops the readings, one that goes on is cut off', async () => {
  const { auth, adapter } = open()
  const cookie = await signedIn(auth, { name: 'Ada', email: 'ada@example.com' })
  const request = new Request('http://localhost:3000/', { headers: { cookie } })
  const calls: unknown[] = []
  const plain: SocketLike = { close: (...args) => void calls.push(args) }
  const deaf: SocketLike = { close: () => {}, terminate: () => void calls.push('terminated') }
  for (const socket of [plain, deaf]) auth.live.tie((await auth.live.open(request)) as Live, socket)
  await adapter.deleteSession!(tokenOf(cookie))
  await expect.poll(() => calls, { timeout: 5000 }).toEqual([[4401, 'session ended'], 'terminated'])
})

it('a check of the app rejects, and options that make no sense are rejected at start', async () => {
  const { auth } = open()
  const cookie = await signedIn(auth, { name: 'Ada', email: 'ada@example.com' })
  const request = new Request('http://localhost:3000/', { headers: { cookie } })
  expect(await auth.live.open(request, { check: () => undefined })).toMatchObject({ status: 403 })
  expect(() => liveBinding({ every: 0 })).toThrow('above 0')
  expect(() => liveBinding({ every: 60, staleAfter: 5 })).toThrow('at least `every`')
})
