/** Cookies, tables and secrets of better-auth 1.6 and 1.7, so that an app that moves keeps every signed-in user. */
import { assertOptions, AuthError, jobFor, type OfTenant, type Plugin } from 'authkernel/kernel'
import { sessionCookie } from './cookie.ts'
import { type BetterAuthDatabase, type BetterAuthReport, type BetterAuthTables, takeOver } from './take-over.ts'

export { type BetterAuthNames, betterAuthNames } from './names.ts'
export type { BetterAuthDatabase, BetterAuthReport, BetterAuthTables } from './take-over.ts'

/** Options of `betterAuthCompatPlugin`. */
export interface BetterAuthCompatOptions {
  /** BETTER_AUTH_SECRET, or a list with the newest first. Default: the secrets of `createAuth`. */
  secret?: string | readonly string[] | undefined
  /** The Kysely instance of the database: `auth.betterAuth.takeOver` and `migrate --from better-auth` read it. */
  db?: BetterAuthDatabase | undefined
  /** Tables that better-auth has under other names. */
  tables?: BetterAuthTables | undefined
}

/** What the plugin puts on `auth`. */
export interface BetterAuthApi {
  betterAuth: {
    /**
     * Takes over passwords and second factors; what a user already has here stays. A dry run unless `apply` is true. May be repeated. Throws AuthError
     * without `db`. `of` names the tenant where there are several.
     */
    takeOver(options?: { apply?: boolean } & OfTenant): Promise<BetterAuthReport>
  }
}

/**
 * The session cookie is named and signed as better-auth does it, so that either product reads what the other wrote. Needs sessions in the
 * tables of better-auth: `sqlAdapter(db, { names: betterAuthNames() })`. Throws AuthError for options of the wrong shape.
 */
export function betterAuthCompatPlugin(options: BetterAuthCompatOptions = {}): Plugin<BetterAuthApi> {
  assertOptions('Plugin "better-auth-compat"', options, { secret: true, db: true, tables: true })
  const { secret, db, tables = {} } = options
  assertOptions('Plugin "better-auth-compat"', tables, { user: true, account: true, session: true, twoFactor: true }, 'tables')
  const secrets = secret === undefined ? undefined : [secret].flat()
  if (secrets && (secrets.length === 0 || secrets.some((one) => typeof one !== 'string' || one === '')))
    throw new AuthError('Plugin "better-auth-compat": `secret` must be the value of BETTER_AUTH_SECRET, or a list of such values.')
  return {
    name: 'better-auth-compat',
    requires: ['store', 'store:getSessionAndUser'],
    setup(kernel) {
      kernel.defaults({ cookiePrefix: 'better-auth', sessionCookieName: 'session_token' })
      kernel.provide('sessionCookie', sessionCookie(secrets))
      // better-auth has passkeys without accounts.
      kernel.decorate('store', (inner, { providers }) => {
        const passkeyOf = async (id: string, provider: string): Promise<{ userId: string } | null> =>
          providers.get(provider)?.type === 'webauthn' && inner.supports('getAuthenticator') ? inner.getAuthenticator(id) : null
        return {
          async getAccount(providerAccountId, provider) {
            const found = await inner.getAccount(providerAccountId, provider)
            // Its table does not say of what type an account is.
            if (found) return { ...found, type: (providers.get(provider)?.type ?? found.type) as typeof found.type }
            const passkey = await passkeyOf(providerAccountId, provider)
            return passkey && { provider, providerAccountId, userId: passkey.userId, type: 'webauthn' }
          },
          // Who owns the passkey that signs in is asked here.
          async getUserByAccount(account) {
            const found = await inner.getUserByAccount(account)
            const passkey = found ? null : await passkeyOf(account.providerAccountId, account.provider)
            return passkey ? inner.getUser(passkey.userId) : found
          },
        }
      })
      // The old password must not work again when the app goes back.
      kernel.on('credentialChanged', async ({ user, kind, ctx }) => {
        const { store } = ctx
        if (kind !== 'password' || user?.id === undefined || !store?.supports('updateAccount')) return
        const key = { provider: 'credential', providerAccountId: user.id }
        const account = (await store.getAccount(user.id, 'credential')) as { password?: unknown } | null
        if (typeof account?.password === 'string') await store.updateAccount({ ...key, password: null } as never)
      })
      return {
        betterAuth: {
          async takeOver({ apply = false, ...tenant } = {}) {
            if (!db) throw new AuthError('Plugin "better-auth-compat": give the Kysely instance of your database as `db`.')
            const ctx = await kernel.contextOf(jobFor('better-auth', tenant))
            const services = {
              passwords: findService(() => kernel.service('passwordTakeover')),
              factors: findService(() => kernel.service('factorTakeover')),
            }
            return takeOver(ctx, db, tables, secrets ?? ctx.settings.secret, services, apply)
          },
        },
      }
    },
  }
}

/** Undefined where no plugin provides the service. */
function findService<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch {
    return undefined
  }
}
