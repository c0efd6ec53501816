/**
 * `npm run scale` in this folder: 100,000 people with an account each and 1,000,000 sessions in PostgreSQL and in Redis. Session reads and
 * sign-ins through Express, each contestant in a process of its own; session reads through the adapters alone, beside `pg` alone; the clean-up
 * of expired sessions. Options: --users, --sessions, --expired (0: no clean-up), --rounds, --express (rounds there; 0: none), --write
 * (docs/speed.md). Fails where a read of authkernel goes through a table from end to end.
 */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { Kysely, PostgresDialect } from 'kysely'
import { save } from '../report.mjs'
import { bundle } from './authkernel.mjs'
import { betterAuthCookies, fillBetterAuth } from './better-auth.mjs'
import { cleanup } from './cleanup.mjs'
import { makeDatabase } from './database.mjs'
import { throughExpress } from './express/index.mjs'
import { plans, readSessions } from './reads.mjs'
import { fillRedis } from './redis.mjs'

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    sessions: { type: 'string', default: '1000000' },
    expired: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '40' },
    express: { type: 'string', default: '8' },
    write: { type: 'boolean', default: false },
  },
})
const [users, sessions, expired, rounds, turns] = ['users', 'sessions', 'expired', 'rounds', 'express'].map((name) => Number(values[name]))
const levels = [1, 16, 128]
const { url, remove } = await bundle()
const { sqlAdapter } = await import(url)
const database = await makeDatabase({ sqlAdapter, Kysely, PostgresDialect }, { users, sessions })
const { tokens, cookie } = await betterAuthCookies({ sessions })
const figures = { node: process.versions.node, cores: cpus().length, load: loadavg()[0], users, sessions }
let redis
try {
  await fillBetterAuth(database, { users, sessions })
  await database.query('vacuum analyze')
  figures.plans = await plans(database)
  Object.assign(figures, await readSessions(database, { sessions, cookie, levels, rounds }))
  if (turns > 0) {
    redis = await fillRedis({ users, sessions, tokens })
    const options = {
      users,
      levels,
      rounds: turns,
      sessions: (name) => (name === 'better-auth' ? cookie() : `${name}.session-token=live-${1 + Math.floor(Math.random() * sessions)}`),
    }
    const given = { bundle: url, postgres: database.url }
    figures.express = {
      PostgreSQL: await throughExpress(given, options),
      Redis: await throughExpress({ ...given, redis: redis.of }, options),
    }
  }
  if (expired > 0) figures.cleanup = await cleanup(database, { expired, users })
} finally {
  remove()
  await redis?.drop()
  await database.drop()
}
if (values.write) save('scale', figures)
console.log(JSON.stringify(figures, undefined, 2))
