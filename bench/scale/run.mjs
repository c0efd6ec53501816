/**
 * `npm run scale` in this folder: the SQL adapter on PostgreSQL with 100,000 people and 1,000,000 sessions, beside `@auth/pg-adapter` on the
 * same tables and in the same rounds, beside better-auth on its own, and beside `pg` alone. Options: --users, --sessions, --expired (0: no clean-up),
 * --rounds, --write (docs/speed.md). Fails where a read of authkernel goes through a table from end to end.
 */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import PostgresAdapter from '@auth/pg-adapter'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { sideBySide } from '../measure.mjs'
import { save } from '../report.mjs'
import { load } from './authkernel.mjs'
import { betterAuthReads } from './better-auth.mjs'
import { cleanup } from './cleanup.mjs'
import { makeDatabase } from './database.mjs'

// Before any pool opens: adapters put functions of their own in front of a connection's.
let asked = 0
const { query } = pg.Client.prototype
pg.Client.prototype.query = function counted(...given) {
  asked++
  return query.apply(this, given)
}

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    sessions: { type: 'string', default: '1000000' },
    expired: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '40' },
    write: { type: 'boolean', default: false },
  },
})
const [users, sessions, expired, rounds] = ['users', 'sessions', 'expired', 'rounds'].map((name) => Number(values[name]))
const { sqlAdapter } = await load()
const database = await makeDatabase({ sqlAdapter, Kysely, PostgresDialect }, { users, sessions })
const figures = {
  node: process.versions.node,
  cores: cpus().length,
  load: loadavg()[0],
  users,
  sessions,
  plans: [],
  queries: {},
  reads: {},
}
try {
  const contestants = await reads()
  figures.plans = await plans()
  for (const inFlight of [1, 16, 128]) {
    const measured = await sideBySide(contestants, { inFlight, rounds, milliseconds: 25 })
    figures.reads[inFlight] = Object.fromEntries(
      Object.entries(measured).map(([name, { wall, cpu }]) => [name, { perSecond: 1e6 / wall, cpu }]),
    )
  }
  if (expired > 0) figures.cleanup = await cleanup(database, { expired, users })
} finally {
  await database.drop()
}
if (values.write) save('scale', figures)
console.log(JSON.stringify(figures, undefined, 2))

/** Reads of random sessions, each contestant over a pool of ten connections of its own. */
async function reads() {
  const ours = database.open()
  const theirs = PostgresAdapter(database.pool())
  const better = await betterAuthReads(database, { users, sessions })
  const bare = database.pool()
  const text = `select s.*, u.* from sessions s join users u on u.id = s."userId" where s."sessionToken" = $1`
  const token = () => `live-${1 + Math.floor(Math.random() * sessions)}`
  const found = (answer) => {
    if (!answer) throw new Error('a session was not found')
  }
  const contestants = {
    authkernel: async () => found(await ours.getSessionAndUser(token())),
    '@auth/pg-adapter': async () => found(await theirs.getSessionAndUser(token())),
    'better-auth': async () => found(await better()),
    'pg alone, prepared': async () => found((await bare.query({ name: 'session', text, values: [token()] })).rows[0]),
  }
  for (const [name, read] of Object.entries(contestants)) figures.queries[name] = await queriesOf(read)
  return contestants
}

/** Of the second read: the first one may ask for more. */
async function queriesOf(read) {
  await read()
  const before = asked
  await read()
  return asked - before
}

/** How the server finds what a session read and a sign-in ask for. Throws where it reads a table from end to end. */
async function plans() {
  const asked = {
    'a session by its token': `select * from sessions s join users u on u.id = s."userId" where s."sessionToken" = 'live-7'`,
    'a user by the address': `select * from users where email = 'person-7@example.com'`,
    'a user by the account': `select * from accounts a join users u on u.id = a."userId" where a.provider = 'acme' and a."providerAccountId" = '7'`,
    'sessions that have ended': `select id from sessions where expires < now() order by expires limit 500`,
  }
  const found = []
  for (const [what, text] of Object.entries(asked)) {
    const { rows } = await database.query(`explain ${text}`)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    // An empty table is read as it is.
    if (/Seq Scan on (?:sessions|users)/.test(plan)) throw new Error(`${what}: ${plan}`)
    const indexes = [...plan.matchAll(/using (\S+)/g)].map(([, index]) => index)
    found.push(`${what} by ${[...new Set(indexes)].join(', ') || 'its index'}`)
  }
  return found
}
