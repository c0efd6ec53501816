/**
 * `npm run busy` in this folder: how long session reads wait while users sign in with passwords. One server process, and this one as its clients: reads at
 * a steady pace, first alone, then beside sign-ins that come at once. Prints p50 and p99 in milliseconds, and how many sign-ins were answered with
 * 503 because the line of hashes was full. Options: --sign-ins, --reads (a second).
 */
import { fork } from 'node:child_process'
import { randomBytes, scryptSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundled } from '../authkernel.mjs'

const password = 'correct horse battery'
const emailOf = (n) => `user-${n}@example.com`

if (process.argv[2] === '--server') await serve(Number(process.argv[3]))
else await measure()

async function serve(users) {
  const folder = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const outfile = `${folder}authkernel-busy-${process.pid}.mjs`
  const names = {
    createAuth: '',
    nodeBinding: '/bindings/node',
    memoryAdapter: '/plugins/memory',
    passwordsPlugin: '/plugins/passwords',
    mailPlugin: '/plugins/mail',
  }
  const entry = Object.entries(names).map(([name, path]) => `export { ${name} } from 'authkernel${path}'`)
  const { createAuth, nodeBinding, memoryAdapter, passwordsPlugin, mailPlugin } = await import(await bundled(entry.join('\n'), outfile))
  rmSync(outfile, { force: true })
  const adapter = memoryAdapter()
  const auth = createAuth({
    secret: randomBytes(32).toString('hex'),
    env: false,
    adapter,
    session: { strategy: 'database' },
    throttle: false,
  })
    .use(mailPlugin({ from: 'auth@example.com', transport: { send() {} } }))
    .use(passwordsPlugin({ breached: false }))
    .use(nodeBinding())
  await auth.ready()
  // One salt for all: the hash is computed anew by each sign-in.
  const salt = randomBytes(16)
  const text = (bytes) => bytes.toString('base64').replaceAll('=', '')
  const hash = `$scrypt$ln=17,r=8,p=1$${text(salt)}$${text(scryptSync(password, salt, 32, { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }))}`
  const hashes = []
  for (let n = 0; n < users; n++) {
    const { id } = await adapter.createUser({ id: `user-${n}`, email: emailOf(n), name: null, image: null, emailVerified: new Date() })
    hashes.push({ userId: id, hash })
  }
  await auth.passwords.import(hashes)
  const sessionToken = randomBytes(16).toString('hex')
  await adapter.createSession({ sessionToken, userId: 'user-0', expires: new Date(Date.now() + 3_600_000), createdAt: new Date() })
  const server = createServer(auth.node.handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.send({ port: server.address().port, sessionToken })
  process.on('disconnect', () => process.exit())
}

async function measure() {
  const { values } = parseArgs({ options: { 'sign-ins': { type: 'string', default: '200' }, reads: { type: 'string', default: '100' } } })
  const [signIns, pace] = [Number(values['sign-ins']), Number(values.reads)]
  const server = fork(fileURLToPath(import.meta.url), ['--server', String(signIns)])
  const [{ port, sessionToken }] = await once(server, 'message')
  const origin = `http://localhost:${port}`
  const read = async () => {
    const began = performance.now()
    const response = await fetch(`${origin}/auth/session`, {
      headers: { cookie: `authjs.session-token=${sessionToken}; authkernel.session-token=${sessionToken}` },
    })
    if (!(await response.json())?.user) throw new Error('The session was not found.')
    return performance.now() - began
  }
  const readWhile = async (isOver) => {
    const waits = []
    while (!isOver()) {
      waits.push(read())
      await new Promise((resolve) => setTimeout(resolve, 1000 / pace))
    }
    const sorted = (await Promise.all(waits)).sort((a, b) => a - b)
    return { reads: sorted.length, p50: sorted[Math.floor(sorted.length / 2)], p99: sorted[Math.floor(sorted.length * 0.99)] }
  }
  const end = Date.now() + 5_000
  const alone = await readWhile(() => Date.now() > end)
  const statuses = {}
  let isOver = false
  const reading = readWhile(() => isOver)
  const began = performance.now()
  await Promise.all(
    Array.from({ length: signIns }, async (_, n) => {
      const status = await signIn(origin, emailOf(n))
      statuses[status] = (statuses[status] ?? 0) + 1
    }),
  )
  const seconds = (performance.now() - began) / 1000
  isOver = true
  console.log(JSON.stringify({ alone, beside: await reading, signIns: { statuses, seconds } }, undefined, 2))
  server.disconnect()
}

async function signIn(origin, email) {
  const page = await fetch(`${origin}/auth/csrf`)
  const cookie = page.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const { csrfToken } = await page.json()
  const body = new URLSearchParams({ csrfToken, email, password, callbackUrl: '/' })
  const response = await fetch(`${origin}/auth/callback/passwords`, { method: 'POST', body, redirect: 'manual', headers: { cookie } })
  await response.arrayBuffer()
  const failed = /error=(\w+)/.exec(response.headers.get('location') ?? '')?.[1]
  return failed ?? response.status
}
