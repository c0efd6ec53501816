/** Session reads and sign-ins through Express: one process per contestant, this process is all browsers, and contestants take turns. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { decile } from '../../measure.mjs'
import { asAuthJs, asBetterAuth, clientOf } from './client.mjs'

const ways = { authkernel: asAuthJs, authjs: asAuthJs, 'better-auth': asBetterAuth }
// In this order: a return is most of a sign-up, and needs no new user.
const warmUp = { read: 2_000, return: 1_000, 'sign-up': 300 }
// Different people per measurement, of those who are there.
const returning = 300

/**
 * Per operation and number in flight: operations per second, and µs of CPU time of the server's process for each; and queries of one
 * operation. `sessions` answers a cookie per contestant.
 */
export async function throughExpress(settings, { sessions, users, levels, rounds, milliseconds = 250, signIns = 48 }) {
  const servers = {}
  try {
    for (const name of Object.keys(ways)) servers[name] = await start(name, settings)
    const figures = { queries: {} }
    for (const operation of Object.keys(warmUp)) {
      figures[operation] = {}
      for (const [name, server] of Object.entries(servers)) {
        await turn(server, await work(server, operation, warmUp[operation]), { inFlight: 16, count: warmUp[operation] })
        const { queries } = await turn(server, await work(server, operation, 1), { inFlight: 1, count: 1 })
        if (queries > 0) (figures.queries[operation] ??= {})[name] = queries
      }
      for (const inFlight of levels) figures[operation][inFlight] = await compare(operation, inFlight)
    }
    return figures
  } finally {
    for (const { client, child } of Object.values(servers)) {
      client.close()
      if (child.connected) child.disconnect()
    }
  }

  async function compare(operation, inFlight) {
    if (process.stderr.isTTY) process.stderr.write(`\r${operation}, ${inFlight} in flight`.padEnd(40))
    const turns = Object.fromEntries(Object.keys(servers).map((name) => [name, []]))
    // As many as keep each place busy a few times, and reads as long as a turn takes.
    const count = operation === 'read' ? undefined : Math.max(signIns, inFlight * 2)
    for (let round = 0; round < rounds; round++) {
      for (const [name, server] of Object.entries(servers)) {
        const each = await work(server, operation, count)
        turns[name].push(await turn(server, each, { inFlight, ...(count ? { count } : { milliseconds }) }))
      }
    }
    return Object.fromEntries(
      Object.entries(turns).map(([name, all]) => [
        name,
        { perSecond: 1e6 / decile(all.map(({ wall }) => wall)), cpu: decile(all.map(({ cpu }) => cpu)) },
      ]),
    )
  }

  /** A function that does it once; what the provider must know for it is signed here. */
  async function work(server, operation, count) {
    if (operation === 'read') return () => server.way.read(sessions(server.name))
    const fresh = () => `new-${server.name}-${settings.redis ? 'redis' : 'sql'}-${server.made++}`
    const names = operation === 'sign-up' ? Array.from({ length: count }, fresh) : server.known
    if (operation === 'sign-up' || !server.signed) await ask(server, { sign: names })
    server.signed ||= operation === 'return'
    let next = 0
    return () => server.way.signIn(names[next++ % names.length])
  }

  async function start(name, given) {
    const child = fork(
      fileURLToPath(new URL('server.mjs', import.meta.url)),
      [JSON.stringify({ name, ...given, redis: given.redis?.(name) })],
      {
        env: { ...process.env, NODE_ENV: 'production' },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    )
    const { port } = await answerOf(child)
    const client = clientOf(port)
    const known = Array.from({ length: returning }, (_, n) => `sub-${1 + Math.floor((n * users) / returning)}`)
    return { name, child, client, known, made: 0, way: await ways[name](client) }
  }
}

/** So many operations, or as many as fit into the time. */
async function turn(server, each, { inFlight, count = Number.POSITIVE_INFINITY, milliseconds = Number.POSITIVE_INFINITY }) {
  const before = await ask(server, {})
  const began = performance.now()
  let begun = 0
  const place = async () => {
    while (begun < count && performance.now() - began < milliseconds) {
      begun++
      await each()
    }
  }
  await Promise.all(Array.from({ length: inFlight }, place))
  const wall = (performance.now() - began) * 1000
  const after = await ask(server, {})
  return { wall: wall / begun, cpu: (after.cpu - before.cpu) / begun, queries: (after.queries - before.queries) / begun }
}

function ask({ child }, message) {
  child.send(message)
  return answerOf(child)
}

function answerOf(child) {
  return new Promise((resolve, reject) => {
    const gone = (code) => reject(new Error(`a contestant ended with ${code}`))
    child.once('exit', gone)
    child.once('message', (answer) => {
      child.off('exit', gone)
      resolve(answer)
    })
  })
}
