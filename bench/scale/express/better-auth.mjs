/** better-auth: `toNodeHandler`, over its own tables in PostgreSQL, and over Redis as its secondary storage, where sessions are then. */
import { toNodeHandler } from 'better-auth/node'
import { issuer } from '../../contestants/_setup.mjs'
import { makeBetterAuth } from '../better-auth.mjs'
import { secondaryStorageOf } from '../redis.mjs'
import pg from 'pg'

export async function mount(app, { postgres, redis, op, origin }) {
  // It takes no `fetch` of the host.
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => (String(input?.url ?? input).startsWith(issuer) ? op.fetch(input, init) : fetch(input, init))
  const auth = makeBetterAuth(new pg.Pool({ connectionString: postgres, max: 10 }), {
    baseURL: origin,
    ...(redis && { secondaryStorage: secondaryStorageOf(redis) }),
  })
  app.all('/api/auth/*splat', toNodeHandler(auth))
}
