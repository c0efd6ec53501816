/** better-auth on tables of its own in the same database, with as many people and sessions. */
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { genericOAuth } from 'better-auth/plugins'
import { client, issuer, origin, secret } from '../contestants/_setup.mjs'

const kept = 2_000

/** As its documentation shows, with the provider of this bench. */
export function makeBetterAuth(pool, options = {}) {
  const provider = {
    providerId: 'acme',
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    ...client,
    // ID tokens of this bench are signed before the sign-in begins, so they cannot carry its nonce.
    disableIdTokenNonceBinding: true,
  }
  return betterAuth(optionsOf(pool, { plugins: [genericOAuth({ config: [provider] })], ...options }))
}

/** Makes the tables and fills them. */
export async function fillBetterAuth(database, { users, sessions }) {
  const { runMigrations } = await getMigrations(optionsOf(database.pool()))
  await runMigrations()
  const numbers = (count) => `from generate_series(1, ${count}) n`
  await database.query(
    `insert into "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
      select 'user-' || n, 'Person ' || n, 'sub-' || n || '@example.com', false, now(), now() ${numbers(users)}`,
  )
  await database.query(
    `insert into account (id, "accountId", "providerId", "userId", "createdAt", "updatedAt")
      select 'account-' || n, 'sub-' || n, 'acme', 'user-' || n, now(), now() ${numbers(users)}`,
  )
  await database.query(
    `insert into session (id, token, "userId", "expiresAt", "createdAt", "updatedAt")
      select 'live-' || n, 'live-' || n, 'user-' || (1 + n % ${users}), now() + interval '30 days', now(), now() ${numbers(sessions)}`,
  )
}

/** Its cookies are signed: those of some sessions at random are made before the run. */
export async function betterAuthCookies({ sessions }) {
  const tokens = Array.from({ length: kept }, () => `live-${1 + Math.floor(Math.random() * sessions)}`)
  const cookies = []
  for (const token of tokens) cookies.push(`better-auth.session_token=${await signed(token)}`)
  return { tokens, cookie: () => cookies[Math.floor(Math.random() * kept)] }
}

function optionsOf(database, options = {}) {
  return {
    secret,
    baseURL: origin,
    database,
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    ...options,
  }
}

async function signed(value) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign'])
  const signature = Buffer.from(await crypto.subtle.sign(algorithm.name, key, new TextEncoder().encode(value))).toString('base64')
  return encodeURIComponent(`${value}.${signature}`)
}
