/** Session reads through the adapters alone, in one process and in the same rounds; and how the server finds what is asked for. */
import PostgresAdapter from '@auth/pg-adapter'
import pg from 'pg'
import { sideBySide } from '../measure.mjs'
import { makeBetterAuth } from './better-auth.mjs'

// Before any pool opens: adapters put functions of their own in front of a connection's.
let asked = 0
const { query } = pg.Client.prototype
pg.Client.prototype.query = function counted(...given) {
  asked++
  return query.apply(this, given)
}

/** Reads of random sessions, each contestant over a pool of ten connections of its own; and the queries of one read. */
export async function readSessions(database, { sessions, cookie, levels, rounds }) {
  const ours = database.open()
  const theirs = PostgresAdapter(database.pool())
  const better = makeBetterAuth(database.pool())
  const bare = database.pool()
  const text = `select s.*, u.* from sessions s join users u on u.id = s."userId" where s."sessionToken" = $1`
  const token = () => `live-${1 + Math.floor(Math.random() * sessions)}`
  const found = (answer) => {
    if (!answer) throw new Error('a session was not found')
  }
  const contestants = {
    authkernel: async () => found(await ours.getSessionAndUser(token())),
    '@auth/pg-adapter': async () => found(await theirs.getSessionAndUser(token())),
    'better-auth': async () => found(await better.api.getSession({ headers: new Headers({ cookie: cookie() }) })),
    'pg alone, prepared': async () => found((await bare.query({ name: 'session', text, values: [token()] })).rows[0]),
  }
  const figures = { queries: {}, reads: {} }
  for (const [name, read] of Object.entries(contestants)) figures.queries[name] = await queriesOf(read)
  for (const inFlight of levels) {
    const measured = await sideBySide(contestants, { inFlight, rounds, milliseconds: 25 })
    figures.reads[inFlight] = Object.fromEntries(
      Object.entries(measured).map(([name, { wall, cpu }]) => [name, { perSecond: 1e6 / wall, cpu }]),
    )
  }
  return figures
}

/** Of the second read: the first one may ask for more. */
async function queriesOf(read) {
  await read()
  const before = asked
  await read()
  return asked - before
}

/** How the server finds what a session read and a sign-in ask for. Throws where it reads a table from end to end. */
export async function plans(database) {
  const reads = {
    'a session by its token': `select * from sessions s join users u on u.id = s."userId" where s."sessionToken" = 'live-7'`,
    'a user by the address': `select * from users where email = 'sub-7@example.com'`,
    'a user by the account': `select * from accounts a join users u on u.id = a."userId" where a.provider = 'acme' and a."providerAccountId" = 'sub-7'`,
    'the accounts of a user': `select * from accounts where "userId" = 'user-7'`,
    'sessions that have ended': `select id from sessions where expires < now() order by expires limit 500`,
  }
  const found = []
  for (const [what, text] of Object.entries(reads)) {
    const { rows } = await database.query(`explain ${text}`)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    if (/Seq Scan on (?:accounts|sessions|users)/.test(plan)) throw new Error(`${what}: ${plan}`)
    const indexes = [...plan.matchAll(/(?:using|Index Scan on) (\S+)/g)].map(([, index]) => index.replaceAll('"', ''))
    found.push(`${what} by ${[...new Set(indexes)].join(', ')}`)
  }
  return found
}
