/** `npm run bench` in this folder. Ratios are what counts: durations depend on the machine and on what else it does. */
import { cpus, loadavg } from 'node:os'
import { load } from './authkernel.mjs'
import { authjs, better, mapAdapter, ours, providers, secret } from './contestants.mjs'
import { poolJobs, sideBySide } from './measure.mjs'

const authkernel = await load()
// What every answer costs before anybody has looked at it.
const bare = async () => {
  const { headers } = new Request('http://localhost:3000/auth/session', { headers: { cookie: 'theme=dark; session-token=token' } })
  return new Response(`{"user":{"name":"Ada Lovelace"},"read":${headers.has('cookie')}}`, {
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-store' },
  }).text()
}

console.log(`Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}\n`)

const jwt = { ours: await ours(authkernel), authjs: await authjs() }
const database = {
  ours: await ours(authkernel, { adapter: mapAdapter() }),
  authjs: await authjs({ adapter: mapAdapter(), session: { strategy: 'database' } }),
  better: await better(),
}

await table('GET /session, jwt strategy: Request to Response, 16 in flight', {
  authkernel: jwt.ours.handler,
  'Auth.js': jwt.authjs.handler,
  'a Request and a Response alone': bare,
})
await table('GET /session, database strategy over a Map: Request to Response, 16 in flight', {
  authkernel: database.ours.handler,
  'Auth.js': database.authjs.handler,
  'better-auth': database.better.handler,
})
await table('Session from a cookie header, jwt strategy, as an application asks for it, 16 in flight', {
  'authkernel auth.session': jwt.ours.session,
  'Auth.js request and json()': jwt.authjs.session,
})
await table(
  'Session from a cookie header, jwt strategy, one at a time',
  { 'authkernel auth.session': jwt.ours.session, 'Auth.js request and json()': jwt.authjs.session },
  { inFlight: 1 },
)
await table('Session from a cookie header, database strategy, 16 in flight', {
  'authkernel auth.session': database.ours.session,
  'Auth.js request and json()': database.authjs.session,
  'better-auth api.getSession': database.better.session,
})

const list = providers(80)
await table('Providers: jwt session read', {
  'authkernel, none': jwt.ours.handler,
  'authkernel, 80': (await ours(authkernel, { providers: list })).handler,
})
await table('Providers: jwt session read of Auth.js', {
  'Auth.js, none': jwt.authjs.handler,
  'Auth.js, 80': (await authjs({ providers: list })).handler,
})
const secrets = [...Array.from({ length: 4 }, (_, i) => `newer secret number ${i} of thirty-two characters`), secret]
await table('Secrets: session read with a token of the last one', {
  'authkernel, 1': jwt.ours.session,
  'authkernel, 5': (await ours(authkernel, { secrets })).session,
})
await table('Secrets: session read of Auth.js with a token of the last one', {
  'Auth.js, 1': jwt.authjs.session,
  'Auth.js, 5': (await authjs({ secrets })).session,
})

for (const enc of ['A256CBC-HS512', 'A256GCM']) await sealers(enc)

/** The synchronous sealer of Node beside jose's. */
async function sealers(enc) {
  const { createSealer, createShared, defaultKeyInfo, resolveRuntime } = authkernel
  const settings = { secret: [secret], origin: '', basePath: '', cookiePrefix: '', keyInfo: defaultKeyInfo, encryption: [enc] }
  const make = () => createSealer(resolveRuntime(), createShared())
  const node = make()
  const { getBuiltinModule } = process
  process.getBuiltinModule = undefined
  const jose = make()
  process.getBuiltinModule = getBuiltinModule
  const payload = { name: 'Ada Lovelace', email: 'ada@example.com', picture: 'https://example.com/ada.png', sub: '1' }
  const token = await node.seal('p', payload, 3600, settings)
  const open = (sealer) => async () => sealer.open('p', token, settings)
  const seal = (sealer) => async () => sealer.seal('p', payload, 3600, settings)
  await table(`Open one token, ${enc}, 16 in flight`, { 'node:crypto': open(node), jose: open(jose) })
  await table(`Seal one token, ${enc}, 16 in flight`, { 'node:crypto': seal(node), jose: seal(jose) })
}

async function table(title, contestants, options) {
  const measured = await sideBySide(contestants, options)
  console.log(`### ${title}\n\n| | µs | µs of CPU | times | times in CPU | jobs |\n|---|---|---|---|---|---|`)
  for (const [name, { wall, cpu, times, cpuTimes }] of Object.entries(measured)) {
    const jobs = await poolJobs(contestants[name])
    console.log(`| ${name} | ${wall.toFixed(1)} | ${cpu.toFixed(1)} | ${times.toFixed(1)} | ${cpuTimes.toFixed(1)} | ${jobs} |`)
  }
  console.log()
}
