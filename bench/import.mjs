/**
 * How long an import of a service takes: users with a hash and an account each, from a file into an empty PostgreSQL database.
 * `node bench/import.mjs [users]`; default 100,000. AUTHKERNEL_BENCH_POSTGRES_URL names the server.
 */
import { createReadStream, createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { bundled } from './authkernel.mjs'

const users = Number(process.argv[2] ?? 100_000)
const server = process.env.AUTHKERNEL_BENCH_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const hash = '$2b$10$abcdefghijklmnopqrstuuKkqkqkqkqkqkqkqkqkqkqkqkqkqkqkq'

const name = `ak_import_${Date.now().toString(36)}`
const file = join(tmpdir(), `${name}.ndjson`)
const folder = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
mkdirSync(folder, { recursive: true })
const outfile = `${folder}${name}.mjs`
const entry = `
export { createAuth } from 'authkernel'
export { importPlugin } from 'authkernel/plugins/import'
export { bcryptHash, passwordsPlugin } from 'authkernel/plugins/passwords'
export { sqlAdapter } from 'authkernel/plugins/sql'
`
const { createAuth, importPlugin, bcryptHash, passwordsPlugin, sqlAdapter } = await import(await bundled(entry, outfile))

await onServer(`create database ${name}`)
try {
  await writeExport()
  const url = new URL(server)
  url.pathname = name
  const pool = new pg.Pool({ connectionString: url.href, max: 10 })
  const adapter = sqlAdapter(new Kysely({ dialect: new PostgresDialect({ pool }) }), { pool })
  const auth = createAuth({ secret: 'a-secret-of-more-than-32-characters-for-a-bench', env: false, trustHost: true, adapter })
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(passwordsPlugin({ verify: [bcryptHash()] }))
    .use(importPlugin())
  await auth.ready().catch(() => undefined)
  await adapter.migrate({ apply: true })
  const files = () => [createReadStream(file, { highWaterMark: 262_144 })]
  for (const stage of ['look', 'import', 'again']) {
    const [began, cpu] = [performance.now(), process.cpuUsage()]
    const { kinds } = await auth.import.run({ from: 'auth0', files, apply: stage !== 'look', accept: ['all'] })
    const seconds = (performance.now() - began) / 1000
    const used = process.cpuUsage(cpu)
    const counts = Object.entries(kinds).map(
      ([kind, { found, new: fresh, unchanged }]) => `${kind} ${found} found, ${fresh} new, ${unchanged} unchanged`,
    )
    console.log(
      `${stage}: ${seconds.toFixed(1)} s, ${Math.round(users / seconds)} users a second; ${counts.join('; ')}; ${((used.user + used.system) / 1e6).toFixed(1)} s of CPU, at most ${Math.round(process.resourceUsage().maxRSS / 1024)} MB so far`,
    )
  }
  await auth.close()
  if (!pool.ended) await pool.end()
} finally {
  rmSync(file, { force: true })
  rmSync(outfile, { force: true })
  await onServer(`drop database ${name} with (force)`)
}

/** One user a line, in the format of Auth0 with the hash in it. */
async function writeExport() {
  const out = createWriteStream(file)
  for (let at = 0; at < users; at++) {
    const row = {
      user_id: `auth0|${at.toString(16).padStart(24, '0')}`,
      email: `user${at}@example.com`,
      email_verified: true,
      name: `User ${at}`,
      picture: `https://cdn.example/${at}.png`,
      identities: [
        { provider: 'auth0', user_id: String(at) },
        { provider: 'google-oauth2', user_id: `g-${at}` },
      ],
      password_hash: hash,
    }
    if (!out.write(`${JSON.stringify(row)}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
}

async function onServer(statement) {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
