/** A move from better-auth that is ended in its middle: the app after the move, in this process or in one that is killed. */
import { type Auth, createAuth } from 'authkernel'
import { adminPlugin } from 'authkernel/plugins/admin'
import { type BetterAuthApi, betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { Kysely } from 'kysely'
import { dialectOf, type SqlSpec } from '../adapters/_stores.ts'

export const origin = 'http://localhost:3000'
export const secret = 'a secret that both apps have, of 44 letters..'
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }

/** The app, with tables. */
export async function startMoved(spec: SqlSpec): Promise<{ auth: Auth & BetterAuthApi; close(): Promise<void> }> {
  const { dialect } = dialectOf(spec)
  const db = new Kysely<object>({ dialect: dialect as never })
  const adapter = sqlAdapter(db, { names: betterAuthNames() })
  const auth = createAuth({ adapter, secret, origin, basePath: '/api/auth', env: false, logger: quiet })
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(betterAuthCompatPlugin({ db }))
    .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
    .use(usernamesPlugin())
    .use(twoFactorPlugin())
    .use(adminPlugin({ can: () => false }))
  await auth.ready().catch(() => {})
  await adapter.migrate({ apply: true })
  return { auth, close: () => auth.close() }
}

// As a process of its own: it tells the parent how far it is.
const database = process.env['INTERRUPTED_MOVE']
if (database !== undefined) {
  const { auth } = await startMoved({ kind: 'postgres', name: database })
  await auth.betterAuth.takeOver({
    apply: true,
    onProgress: (rows, stage) => {
      if (stage === 'write') process.send?.(rows)
    },
  })
  process.send?.('done')
}
