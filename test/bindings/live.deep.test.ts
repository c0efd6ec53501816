/** Two processes over one store: what one of them ends closes the connections of the other within the stated time. */
import { signedIn } from 'authkernel/testing'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openEvents, openSocket } from './_live-client.ts'
import { openAuth } from './_live.ts'

const folder = mkdtempSync(join(tmpdir(), 'live-'))
const file = join(folder, 'auth.db')
const auth = openAuth(file)
let child: ChildProcess
let port: number
beforeAll(async () => {
  await auth.ready()
  child = fork('scripts/dev.mjs', ['test/bindings/_live.ts'], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    env: { ...process.env, LIVE_FILE: file },
  })
  ;[port] = (await once(child, 'message')) as [number]
}, 60_000)
afterAll(() => {
  child.kill()
  rmSync(folder, { recursive: true })
})

/** `every` of the other process, and the time of a loaded machine. */
const bound = 500 + 2000

async function connect(name: string) {
  const cookie = await signedIn(auth, { name, email: `${name}@example.com` })
  const headers = { cookie, origin: `http://127.0.0.1:${port}` }
  return { cookie, socket: await openSocket(port, headers), events: await openEvents(port, headers) }
}

it('sign-out at one process', async () => {
  const { cookie, socket, events } = await connect('ada')
  const csrf = await auth.handler(new Request('http://localhost:3000/auth/csrf', { headers: { cookie } }))
  const { csrfToken } = (await csrf.json()) as { csrfToken: string }
  const cookies = [cookie, ...csrf.headers.getSetCookie().map((line) => line.split(';')[0]!)].join('; ')
  const since = performance.now()
  await auth.handler(
    new Request('http://localhost:3000/auth/signout', {
      method: 'POST',
      headers: { cookie: cookies },
      body: new URLSearchParams({ csrfToken }),
    }),
  )
  const [closed, over] = await Promise.all([socket.ended, events.ended])
  expect([closed.how, over.how]).toEqual([4401, expect.stringContaining('session-end')])
  expect(Math.max(closed.after(since), over.after(since))).toBeLessThan(bound)
})

it('a ban at one process', async () => {
  const root = await signedIn(auth, { name: 'root', email: 'root@example.com' })
  const { cookie, socket } = await connect('ben')
  const session = await auth.session(new Request('http://localhost:3000/', { headers: { cookie } }))
  const by = new Request('http://localhost:3000/', { headers: { cookie: root } })
  const since = performance.now()
  await auth.admin.ban(by, session!.user!.id!, { reason: 'Spam' })
  const closed = await socket.ended
  expect(closed.how).toBe(4401)
  expect(closed.after(since)).toBeLessThan(bound)
})
