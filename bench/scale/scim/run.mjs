/**
 * `npm run scim` in this folder: SCIM on PostgreSQL. The import of users, a page by cursor of a directory of a million, a change of a group of
 * 50,000, and the time from `active: false` to the last request that is served, over four processes and both session strategies. Options: --import,
 * --flight (requests at a time), --users, --members, --processes, --rounds, --write (docs/speed.md). Fails where a page reads a table from end to end.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Kysely, PostgresDialect } from 'kysely'
import { bundled } from '../../authkernel.mjs'
import { save } from '../../report.mjs'
import { makeDatabase } from '../database.mjs'
import { measureEndings } from './ending.mjs'
import { clientOf, createDirectory, createHost, origin } from './host.mjs'
import { importUsers } from './import.mjs'
import { fillDirectory, patchGroup, readChanges, readPages } from './large.mjs'

const names = { import: '10000', flight: '16', users: '1000000', members: '50000', processes: '4', rounds: '5' }
const { values } = parseArgs({
  options: {
    ...Object.fromEntries(Object.entries(names).map(([name, value]) => [name, { type: 'string', default: value }])),
    write: { type: 'boolean', default: false },
  },
})
const [count, inFlight, users, members, processes, rounds] = Object.keys(names).map((name) => Number(values[name]))

const folder = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
mkdirSync(folder, { recursive: true })
const outfile = `${folder}authkernel-scim-${process.pid}.mjs`
const bundle = await bundled(
  `export { createAuth } from 'authkernel'
   export { adapterPlugin } from 'authkernel/plugins/adapter'
   export { apiKeysPlugin } from 'authkernel/plugins/api-keys'
   export { organizationsPlugin } from 'authkernel/plugins/organizations'
   export { scimPlugin } from 'authkernel/plugins/scim'
   export { sqlAdapter } from 'authkernel/plugins/sql'`,
  outfile,
)
const parts = await import(bundle)
const database = await makeDatabase({ sqlAdapter: parts.sqlAdapter, Kysely, PostgresDialect }, { users: 1, sessions: 1 })
const queries = []
const isCounted = { now: false }
const figures = { node: process.versions.node, cores: cpus().length, load: loadavg()[0] }
const hosts = []
try {
  const host = createHost(parts, { url: database.url, onQuery: (sql, parameters) => isCounted.now && queries.push({ sql, parameters }) })
  hosts.push(host)
  await migrate(host)
  await host.auth.ready()
  const acme = await createDirectory(host, 'acme.example')
  const send = clientOf(host.auth, acme.token)
  figures.import = await importUsers(send, { count, inFlight })
  console.error(figures.import)
  figures.ending = {}
  for (const strategy of ['database', 'jwt']) {
    const own = strategy === 'database' ? host : createHost(parts, { url: database.url, strategy })
    if (own !== host) {
      hosts.push(own)
      await migrate(own)
    }
    const signIn = (email) => signInAt(own.auth, email)
    figures.ending[strategy] = await measureEndings(own, clientOf(own.auth, acme.token), {
      bundle,
      url: database.url,
      strategy,
      processes,
      rounds,
      signIn,
    })
  }
  const large = await createDirectory(host, 'large.example')
  await fillDirectory(database, large, { users, members })
  isCounted.now = true
  const sendLarge = clientOf(host.auth, large.token)
  const facts = { queries, explain }
  figures.page = { users, ...(await readPages(sendLarge, facts, 200)) }
  figures.changes = await readChanges(sendLarge, facts, 50)
  figures.group = { members, ...(await patchGroup(sendLarge, { users, rounds: 100 })) }
} finally {
  for (const host of hosts) await host.close()
  rmSync(outfile, { force: true })
  await database.drop()
}
if (values.write) save('scim', figures)
console.log(JSON.stringify(figures, undefined, 2))

/** Tables of the plugins, as `npx authkernel migrate --apply` makes them. */
async function migrate({ auth, adapter }) {
  await auth.ready().catch(() => {})
  await adapter.migrate({ apply: true })
}

async function explain({ sql, parameters }) {
  const { rows } = await database.query(`explain (analyze, costs off, timing off, summary off) ${sql}`, [...parameters])
  const lines = rows.map((row) => row['QUERY PLAN'])
  if (lines.some((line) => line.includes('Seq Scan'))) throw new Error(`A table is read from end to end:\n${lines.join('\n')}`)
  return lines
}

async function signInAt(auth, email) {
  const jar = new Map()
  const ask = async (path, init = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await auth.handler(new Request(`${origin}/auth${path}`, { ...init, headers: { ...init.headers, cookie, origin } }))
    for (const header of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      jar.set(name, value)
    }
    return response
  }
  const { csrfToken } = await (await ask('/csrf')).json()
  await ask('/callback/credentials', { method: 'POST', body: new URLSearchParams({ csrfToken, email }) })
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  if (!(await auth.session(new Request(`${origin}/`, { headers: { cookie } })))) throw new Error(`${email} is not signed in.`)
  return cookie
}
