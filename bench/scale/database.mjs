/** A database of its own on the PostgreSQL at hand, with as many people, accounts and sessions as a busy site has. */
import pg from 'pg'

const server = process.env.AUTHKERNEL_BENCH_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'

/** Makes the tables by `migrate`, fills them, and gives pools to them; `drop` ends it all. */
export async function makeDatabase({ sqlAdapter, Kysely, PostgresDialect }, { users, sessions }) {
  const name = `ak_scale_${Date.now().toString(36)}`
  await onServer(`create database ${name}`)
  const url = new URL(server)
  url.pathname = name
  const pools = []
  const pool = (options = {}) => {
    const made = new pg.Pool({ connectionString: url.href, max: 10, ...options })
    made.on('error', () => {})
    pools.push(made)
    return made
  }
  const open = (own = pool()) => sqlAdapter(new Kysely({ dialect: new PostgresDialect({ pool: own }) }), { pool: own })
  const query = pool({ max: 2 })
  await open(query).migrate({ apply: true })
  await query.query(
    `insert into users (id, name, email) select 'user-' || n, 'Person ' || n, 'sub-' || n || '@example.com' from generate_series(1, ${users}) n`,
  )
  await query.query(
    `insert into accounts ("userId", type, provider, "providerAccountId") select 'user-' || n, 'oidc', 'acme', 'sub-' || n from generate_series(1, ${users}) n`,
  )
  await addSessions(query, { count: sessions, users, name: 'live', days: 30 })
  return {
    url: url.href,
    pool,
    open,
    query: (text, values) => query.query(text, values),
    async drop() {
      await Promise.all(pools.map((each) => each.end().catch(() => {})))
      await onServer(`drop database ${name} with (force)`)
    },
  }
}

/** Sessions `<name>-1`, `<name>-2`, … of people in turn, which end in so many days. */
export async function addSessions(pool, { count, users, name, days }) {
  await pool.query(
    `insert into sessions (id, "sessionToken", "userId", expires, "createdAt")
      select '${name}-' || n, '${name}-' || n, 'user-' || (1 + n % ${users}), now() + interval '${days} days' + n * interval '1 millisecond', now()
      from generate_series(1, ${count}) n`,
  )
}

async function onServer(text) {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(text)
  await client.end()
}
