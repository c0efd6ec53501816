/**
 * `npm run scale` in this folder: the SQL adapter on PostgreSQL with 100,000 people and 1,000,000 sessions, beside `@auth/pg-adapter` on the
 * same tables and in the same rounds, and beside `pg` alone. Options: --users, --sessions, --expired (0: no clean-up), --rounds, --json.
 */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import PostgresAdapter from '@auth/pg-adapter'
import { Kysely, PostgresDialect } from 'kysely'
import { sideBySide } from '../measure.mjs'
import { load } from './authkernel.mjs'
import { cleanup } from './cleanup.mjs'
import { makeDatabase } from './database.mjs'

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    sessions: { type: 'string', default: '1000000' },
    expired: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
  },
})
const [users, sessions, expired, rounds] = ['users', 'sessions', 'expired', 'rounds'].map((name) => Number(values[name]))
const { sqlAdapter } = await load()
const database = await makeDatabase({ sqlAdapter, Kysely, PostgresDialect }, { users, sessions })
const figures = { node: process.versions.node, cores: cpus().length, load: loadavg()[0], users, sessions, reads: {} }
try {
  const contestants = reads()
  for (const inFlight of [1, 16, 50]) {
    const measured = await sideBySide(contestants, { inFlight, rounds, milliseconds: 25 })
    figures.reads[inFlight] = Object.fromEntries(
      Object.entries(measured).map(([name, { wall, cpu }]) => [name, { perSecond: 1e6 / wall, cpu }]),
    )
  }
  if (!values.json) printReads()
  if (expired > 0) figures.cleanup = await cleanup(database, { expired, users })
} finally {
  await database.drop()
}
if (values.json) console.log(JSON.stringify(figures, undefined, 2))
else if (figures.cleanup) printCleanup(figures.cleanup)

/** Reads of random sessions, each contestant over a pool of ten connections of its own. */
function reads() {
  const ours = database.open()
  const theirs = PostgresAdapter(database.pool())
  const bare = database.pool()
  const text = `select s.*, u.* from sessions s join users u on u.id = s."userId" where s."sessionToken" = $1`
  const token = () => `live-${1 + Math.floor(Math.random() * sessions)}`
  const found = (answer) => {
    if (!answer) throw new Error('a session was not found')
  }
  return {
    authkernel: async () => found(await ours.getSessionAndUser(token())),
    '@auth/pg-adapter': async () => found(await theirs.getSessionAndUser(token())),
    'pg alone, prepared': async () => found((await bare.query({ name: 'session', text, values: [token()] })).rows[0]),
  }
}

function printReads() {
  console.log(`Node ${figures.node}, ${figures.cores} cores, load ${figures.load.toFixed(1)}, ${users} users, ${sessions} sessions\n`)
  for (const [inFlight, row] of Object.entries(figures.reads)) {
    const theirs = row['@auth/pg-adapter']
    console.log(`### Session reads, ${inFlight} in flight\n\n| | per second | × @auth/pg-adapter | µs of CPU |\n|---|---|---|---|`)
    for (const [name, { perSecond, cpu }] of Object.entries(row)) {
      console.log(`| ${name} | ${Math.round(perSecond)} | ${(perSecond / theirs.perSecond).toFixed(2)} | ${cpu.toFixed(0)} |`)
    }
    console.log()
  }
}

function printCleanup({ removed, seconds, megabytes, left, oneStatement, operations, median, worst }) {
  console.log(`### Clean-up of ${removed} sessions that have ended\n`)
  console.log(
    `${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB more than before, ${left} left; one statement: ${oneStatement.toFixed(1)} s.`,
  )
  console.log(
    `Meanwhile ${operations} sessions were made, read and extended: ${median.toFixed(1)} ms each, the longest ${worst.toFixed(0)} ms.`,
  )
}
