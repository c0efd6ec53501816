/** better-auth on tables of its own in the same database, with as many people and sessions. */
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { cookiesOf, origin, person, secret } from '../contestants/_setup.mjs'

const kept = 2_000

/** Answers one read of a session at random. Its cookies are signed: those of some sessions are made before the run. */
export async function betterAuthReads(database, { users, sessions }) {
  const options = {
    secret,
    baseURL: origin,
    database: database.pool(),
    emailAndPassword: { enabled: true, password: { hash: async (value) => value, verify: async () => true } },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
  }
  const { runMigrations } = await getMigrations(options)
  await runMigrations()
  const auth = betterAuth(options)
  await database.query(
    `insert into "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
      select 'user-' || n, 'Person ' || n, 'person-' || n || '@example.com', false, now(), now() from generate_series(1, ${users}) n`,
  )
  await database.query(
    `insert into session (id, token, "userId", "expiresAt", "createdAt", "updatedAt")
      select 'live-' || n, 'live-' || n, 'user-' || (1 + n % ${users}), now() + interval '30 days', now(), now() from generate_series(1, ${sessions}) n`,
  )
  await database.query('vacuum analyze')
  const body = { email: person.email, password: 'correct horse battery', name: person.name }
  const cookie = cookiesOf(await auth.api.signUpEmail({ body, asResponse: true }))
  const [name] = cookie.split('=')
  const cookies = []
  for (let i = 0; i < kept; i++) cookies.push(`${name}=${await signed(`live-${1 + Math.floor(Math.random() * sessions)}`)}`)
  return () => auth.api.getSession({ headers: new Headers({ cookie: cookies[Math.floor(Math.random() * kept)] }) })
}

async function signed(value) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign'])
  const signature = Buffer.from(await crypto.subtle.sign(algorithm.name, key, new TextEncoder().encode(value))).toString('base64')
  return encodeURIComponent(`${value}.${signature}`)
}
