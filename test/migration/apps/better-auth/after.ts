/** The same app after the move of docs/migrating-from-better-auth.md. */
import { createAuth } from 'authkernel'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { mailPlugin } from 'authkernel/plugins/mail'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { Kysely } from 'kysely'
import type { Setting } from './setting.ts'

export async function start({ database, origin, secret, provider, mails }: Setting) {
  const db = new Kysely<object>({ dialect: database.dialect as never })
  const adapter = sqlAdapter(db, { names: betterAuthNames() })
  const auth = createAuth({ adapter, secret, origin, basePath: '/api/auth', env: false })
    .use(betterAuthCompatPlugin({ db }))
    .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
    .use(twoFactorPlugin())
    .use(oidcPlugin({ id: 'acme', name: 'Acme', ...provider, checks: ['pkce', 'state'] }))
    .use(mailPlugin({ transport: { send: ({ to, text }) => void mails.push({ to, text }) } }))
  return { auth, adapter, handler: (request: Request) => auth.handler(request) }
}
