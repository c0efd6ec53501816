/**
 * How long the move of a large better-auth database takes: `node scripts/dev.mjs bench/move.ts 1000000`. Passwords of all users, usernames of a half, second factors
 * of a twentieth, bans and API keys of a hundredth, and memberships of a tenth. It makes a database of its own at `BENCH_POSTGRES` (default: the local one) and drops it.
 */
import { createCipheriv, createHash } from 'node:crypto'
import { createAuth } from 'authkernel'
import { adminPlugin } from 'authkernel/plugins/admin'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

const users = Number(process.argv[2] ?? 1_000_000)
const url = process.env['BENCH_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const name = `authkernel_move_${process.pid}`
const secret = 'a secret of the bench of moves, long enough'

let cpu = process.cpuUsage()

const statements = [
  `create table "user" (id text primary key, name text not null, email text not null unique, "emailVerified" boolean not null, image text,
    "createdAt" timestamptz not null, "updatedAt" timestamptz not null, "twoFactorEnabled" boolean, username text unique, "displayUsername" text,
    role text, banned boolean, "banReason" text, "banExpires" timestamptz)`,
  `create table session (id text primary key, "expiresAt" timestamptz not null, token text not null unique, "createdAt" timestamptz not null,
    "updatedAt" timestamptz not null, "ipAddress" text, "userAgent" text, "userId" text not null)`,
  `create table account (id text primary key, "accountId" text not null, "providerId" text not null, "userId" text not null, "accessToken" text,
    "refreshToken" text, "idToken" text, "accessTokenExpiresAt" timestamptz, "refreshTokenExpiresAt" timestamptz, scope text, password text,
    "createdAt" timestamptz not null, "updatedAt" timestamptz not null)`,
  `create index on account ("userId")`,
  `create table "twoFactor" (id text primary key, secret text not null, "backupCodes" text not null, "userId" text not null, verified boolean)`,
  `create index on "twoFactor" ("userId")`,
  `create table organization (id text primary key, name text not null, slug text not null unique, "createdAt" timestamptz not null)`,
  `create table member (id text primary key, "organizationId" text not null, "userId" text not null, role text not null, "createdAt" timestamptz not null)`,
  `create index on member ("organizationId")`,
  `create table apikey (id text primary key, name text, start text, "referenceId" text not null, key text not null, enabled boolean, permissions text,
    remaining integer, "rateLimitEnabled" boolean, "rateLimitMax" integer, "rateLimitTimeWindow" integer, "expiresAt" timestamptz, "createdAt" timestamptz)`,
  `insert into "user" select 'u' || n, 'User ' || n, 'u' || n || '@example.com', n % 50 <> 0, null, now(), now(), n % 20 = 0,
    case when n % 2 = 0 then 'user' || n end, null, null, n % 100 = 7, case when n % 100 = 7 then 'spam' end, null from generate_series(1, ${users}) n`,
  `insert into account select 'a' || n, 'u' || n, 'credential', 'u' || n, null, null, null, null, null, null,
    md5(n::text) || ':' || md5(n::text || 'a') || md5(n::text || 'b') || md5(n::text || 'c') || md5(n::text || 'd'), now(), now() from generate_series(1, ${users}) n`,
  `insert into organization select 'o' || n, 'Organization ' || n, 'org-' || n, now() from generate_series(1, ${Math.ceil(users / 1000)}) n`,
  `insert into member select 'm' || n, 'o' || (n % ${Math.ceil(users / 1000)} + 1), 'u' || n, 'member', now() from generate_series(1, ${users}) n where n % 10 = 0`,
  `insert into apikey select 'k' || n, 'key', 'ba_', 'u' || n, 'ba_' || md5(n::text) || md5(n::text || 'k'), true, null, null, false, null, null, null, now()
    from generate_series(1, ${users}) n where n % 100 = 1`,
]

const control = new pg.Client(url)
await control.connect()
await control.query(`create database ${name}`)
const own = new URL(url)
own.pathname = name
const pool = new pg.Pool({ connectionString: own.href })
try {
  const filling = performance.now()
  for (const statement of statements) await pool.query(statement)
  await pool.query(`insert into "twoFactor" select 't' || n, $1, $2, 'u' || n, true from generate_series(1, ${users}) n where n % 20 = 0`, [
    encrypt('a secret of thirty-two characters'),
    encrypt(JSON.stringify(Array.from({ length: 10 }, (_, at) => `abcd${at}-EFGH${at}`))),
  ])
  await pool.query('analyze')
  print('filled', filling)
  const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
  const adapter = sqlAdapter(db, { pool, names: betterAuthNames() })
  const auth = createAuth({ adapter, secret, origin: 'http://localhost:3000', env: false })
    .use({ name: 'post', setup: (kernel) => kernel.provide('mailTransport', { send() {} }) })
    .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
    .use(usernamesPlugin())
    .use(twoFactorPlugin())
    .use(adminPlugin({ can: () => false }))
    .use(organizationsPlugin())
    .use(apiKeysPlugin())
    .use(betterAuthCompatPlugin({ db }))
  await auth.ready().catch(() => {})
  await adapter.migrate({ apply: true })
  await auth.ready()
  for (const run of ['first run', 'second run']) {
    const began = performance.now()
    const { applied, refused, kinds, before, after } = await auth.betterAuth.takeOver({ apply: true, accept: ['api-keys-refused'] })
    print(run, began)
    console.table(
      Object.fromEntries(
        Object.entries(kinds).map(([kind, { found, new: fresh, unchanged, refused: left, conflict }]) => [
          kind,
          { found, fresh, unchanged, left, conflict, before: before[kind], after: after[kind] },
        ]),
      ),
    )
    if (!applied) throw new Error(`The move was refused: ${refused.join(', ')}`)
  }
  await auth.close()
} finally {
  await pool.end().catch(() => {})
  await control.query(`drop database ${name} with (force)`)
  await control.end()
}

function print(what: string, began: number): void {
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  const facts = [
    `${Math.round(users / seconds)} a second`,
    `${((user + system) / 1e6).toFixed(1)} s of CPU`,
    `at most ${Math.round(process.resourceUsage().maxRSS / 1024)} MB so far`,
  ]
  console.log(`${what}: ${seconds.toFixed(1)} s for ${users} users, ${facts.join(', ')}`)
}

/** As better-auth stores secrets: XChaCha20-Poly1305 under the SHA-256 of the secret, in hex. */
function encrypt(text: string): string {
  const key = createHash('sha256').update(secret).digest()
  const nonce = Buffer.alloc(24)
  const cipher = createCipheriv(
    'chacha20-poly1305',
    hchacha20(key, nonce.subarray(0, 16)),
    Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]),
    {
      authTagLength: 16,
    },
  )
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return Buffer.concat([nonce, data]).toString('hex')
}

/** draft-irtf-cfrg-xchacha-03 section 2.2. */
function hchacha20(key: Buffer, nonce: Buffer): Buffer {
  const state = new Uint32Array(16)
  state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574])
  for (let at = 0; at < 8; at++) state[4 + at] = key.readUInt32LE(at * 4)
  for (let at = 0; at < 4; at++) state[12 + at] = nonce.readUInt32LE(at * 4)
  const turn = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits))
  const quarter = (a: number, b: number, c: number, d: number): void => {
    for (const [add, to, mixed, bits] of [
      [b, a, d, 16],
      [d, c, b, 12],
      [b, a, d, 8],
      [d, c, b, 7],
    ] as const) {
      state[to] = state[to]! + state[add]!
      state[mixed] = turn(state[mixed]! ^ state[to]!, bits)
    }
  }
  for (let round = 0; round < 10; round++) {
    for (let column = 0; column < 4; column++) quarter(column, column + 4, column + 8, column + 12)
    for (let row = 0; row < 4; row++) quarter(row, 4 + ((row + 1) % 4), 8 + ((row + 2) % 4), 12 + ((row + 3) % 4))
  }
  const key2 = Buffer.alloc(32)
  ;[0, 1, 2, 3, 12, 13, 14, 15].forEach((word, at) => key2.writeUInt32LE(state[word]!, at * 4))
  return key2
}
