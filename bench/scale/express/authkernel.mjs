/** authkernel: the binding for Express, over the SQL adapter or over unstorage on Redis. */
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { client, issuer, quiet, secret } from '../../contestants/_setup.mjs'
import { storageOf } from '../redis.mjs'

export async function mount(app, { bundle, postgres, redis, op }) {
  const { createAuth, customFetch, expressBinding, sqlAdapter, unstorageAdapter } = await import(bundle)
  const open = () => {
    const pool = new pg.Pool({ connectionString: postgres, max: 10 })
    return sqlAdapter(new Kysely({ dialect: new PostgresDialect({ pool }) }), { pool })
  }
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    logger: quiet,
    // All requests come from one address.
    throttle: false,
    adapter: redis ? unstorageAdapter(await storageOf(redis)) : open(),
    providers: [{ id: 'acme', name: 'Acme', type: 'oidc', issuer, ...client, [customFetch]: op.fetch }],
  }).use(expressBinding())
  await auth.ready()
  app.use('/auth', auth.express.handler)
}
