/** Auth.js: `@auth/express`, over `@auth/pg-adapter` or over `@auth/unstorage-adapter` on Redis. */
import { ExpressAuth, customFetch } from '@auth/express'
import PostgresAdapter from '@auth/pg-adapter'
import { UnstorageAdapter } from '@auth/unstorage-adapter'
import pg from 'pg'
import { client, issuer, quiet, secret } from '../../contestants/_setup.mjs'
import { storageOf } from '../redis.mjs'

export async function mount(app, { postgres, redis, op }) {
  const config = {
    secret,
    trustHost: true,
    logger: quiet,
    adapter: redis ? UnstorageAdapter(await storageOf(redis)) : PostgresAdapter(new pg.Pool({ connectionString: postgres, max: 10 })),
    session: { strategy: 'database' },
    providers: [{ id: 'acme', name: 'Acme', type: 'oidc', issuer, ...client, [customFetch]: op.fetch }],
  }
  // It finds its base path by the first parameter, which has a name in patterns of Express 5.
  app.use(/^\/auth\/(.*)/, ExpressAuth(config))
}
