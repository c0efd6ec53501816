/** Cookies, tables and secrets of better-auth 1.6 and 1.7, so that an app that moves keeps every signed-in user. */
import { type AnyContext, assertOptions, AuthError, type ImportTarget, jobFor, type OfTenant, type Plugin } from 'authkernel/kernel'
import { sessionCookie } from './cookie.ts'
import { digestsOfToken } from './directories.ts'
import { addFormerAddresses } from './routes-former.ts'
import { createSharedCredentials } from './credentials.ts'
import { entryTable } from '../import/tables.ts'
import { type BetterAuthModel, type BetterAuthSchema, checkSchema } from './schema.ts'
import { addRoutes, type BetterAuthRoute, clientRoutes } from './routes.ts'
import { finishMove, type MoveEnd } from './finish.ts'
import { refreshAccess, sharePasswords } from './live.ts'
import { watchKeys } from './live-keys.ts'
import { type BetterAuthDatabase, createRowReader, createSourceOpener } from './source.ts'
import { removeUsedCodes } from './used-codes.ts'
import { type BetterAuthReport, compareWithLedger, type Ground, takeOver, type TakeOverOptions } from './take-over.ts'

export { type BetterAuthNames, betterAuthNames } from './names.ts'
export { betterAuthInvitationToken } from './organizations.ts'
export type { MoveEnd } from './finish.ts'
export type { BetterAuthRoute } from './routes.ts'
export type { BetterAuthModel, BetterAuthSchema } from './schema.ts'
export type { BetterAuthDatabase } from './source.ts'
export type { BetterAuthReport, TakeOverOptions } from './take-over.ts'

/** Names of tables; each defaults to its own. */
export type BetterAuthTables = Partial<Record<'user' | 'account' | 'session' | 'twoFactor', string>>

/** Options of `betterAuthCompatPlugin`. */
export interface BetterAuthCompatOptions {
  /** BETTER_AUTH_SECRET, or a list with the newest first. Default: the secrets of `createAuth`. */
  secret?: string | readonly string[] | undefined
  /** The Kysely instance of the database: `auth.betterAuth.takeOver` and `migrate --from better-auth` read it. */
  db?: BetterAuthDatabase | undefined
  /** Tables that better-auth has under other names. `schema` says it for columns too. */
  tables?: BetterAuthTables | undefined
  /** Names of tables and columns, where they are not those of better-auth. Give the same to `betterAuthNames`. */
  schema?: BetterAuthSchema | undefined
  /** `managedConnections.credentialHashSecret` of scim() in 1.7: its tokens are known by it. Without it directories need new tokens. */
  scimSecret?: string | undefined
  /**
   * Answers the client of better-auth: `/get-session`, `/sign-in/email`, `/sign-up/email`, `/sign-in/social`, `/sign-out` and the second factor, so that
   * bundles and apps that are out there keep working. A list: these paths alone. Default false.
   */
  routes?: boolean | readonly BetterAuthRoute[] | undefined
  /** Schemes of your Expo apps, such as `['acme']`, with `routes`: their users may sign in at a provider. Default: none. */
  apps?: readonly string[] | undefined
}

// Of browsers, and those that run or read something.
const unsafeSchemes = new Set(['http', 'https', 'javascript', 'data', 'file', 'blob', 'about', 'content', 'ws', 'wss', 'vbscript'])

/** What the plugin puts on `auth`. */
export interface BetterAuthApi {
  betterAuth: {
    /**
     * Takes over passwords, second factors, bans, usernames and more. A dry run unless `apply` is true. It may be repeated: a later run refreshes what changed in
     * better-auth, and never replaces what changed here. With `apply` it writes nothing while a problem is neither solved nor named in `accept`: `refused` lists those.
     * Throws AuthError without `db`, and for tables that lack a column. `tenant` names the tenant where there are several.
     */
    takeOver(options?: TakeOverOptions & OfTenant): Promise<BetterAuthReport>
    /**
     * Ends the move for good: nothing that better-auth writes from now on is taken over, and `takeOver({ apply: true })` throws. It stays open while a run would still
     * take something, or while a problem is neither solved nor named in `accept`: `refused` lists those. Throws AuthError before the first run that wrote.
     */
    finish(options?: { accept?: readonly string[] | undefined } & OfTenant): Promise<MoveEnd>
    /** How many things of each kind better-auth has, and how many were taken. Reads counts alone. Empty once the move is finished. Throws AuthError as `takeOver`. */
    compare(options?: OfTenant): Promise<{ kind: string; there: number; taken: number }[]>
  }
}

/**
 * The session cookie is named and signed as better-auth does it, so that either product reads what the other wrote. Needs sessions in the
 * tables of better-auth: `sqlAdapter(db, { names: betterAuthNames() })`. Throws AuthError for options of the wrong shape.
 */
export function betterAuthCompatPlugin(options: BetterAuthCompatOptions = {}): Plugin<BetterAuthApi> {
  assertOptions('Plugin "better-auth-compat"', options, {
    secret: true,
    db: true,
    tables: true,
    schema: true,
    scimSecret: true,
    routes: true,
    apps: true,
  })
  const { secret, db, tables = {}, schema: given = {}, scimSecret, routes = false, apps = [] } = options
  assertOptions('Plugin "better-auth-compat"', given, { casing: true, models: true }, 'schema')
  checkSchema(given)
  const schema = { ...given, models: withTables(given.models, tables) }
  assertOptions('Plugin "better-auth-compat"', tables, { user: true, account: true, session: true, twoFactor: true }, 'tables')
  const secrets = secret === undefined ? undefined : [secret].flat()
  const unknown = (Array.isArray(routes) ? (routes as readonly string[]) : []).filter(
    (path) => !(clientRoutes as readonly string[]).includes(path),
  )
  if (unknown.length > 0)
    throw new AuthError(
      `Plugin "better-auth-compat": \`routes\` has ${unknown.join(', ')}, which is not answered here. Known: ${clientRoutes.join(', ')}.`,
    )
  const wrongApp = apps.find((scheme) => !/^[a-z][a-z0-9+.-]{1,63}$/.test(scheme) || unsafeSchemes.has(scheme))
  if (wrongApp !== undefined)
    throw new AuthError(`Plugin "better-auth-compat": \`apps\` has "${wrongApp}", which is no scheme of an app. Write "acme" for acme://.`)
  if (scimSecret !== undefined && (typeof scimSecret !== 'string' || scimSecret.length < 32))
    throw new AuthError(
      'Plugin "better-auth-compat": `scimSecret` must be the `credentialHashSecret` of scim(), which has at least 32 characters.',
    )
  if (secrets && (secrets.length === 0 || secrets.some((one) => typeof one !== 'string' || one === '')))
    throw new AuthError('Plugin "better-auth-compat": `secret` must be the value of BETTER_AUTH_SECRET, or a list of such values.')
  return {
    name: 'better-auth-compat',
    requires: ['store', 'store:getSessionAndUser'],
    setup(kernel) {
      kernel.defaults({ cookiePrefix: 'better-auth', sessionCookieName: 'session_token' })
      const cookie = sessionCookie(secrets)
      kernel.provide('sessionCookie', cookie)
      const openSource = db && createSourceOpener(db, schema)
      const findRow = createRowReader(openSource)
      addFormerAddresses(kernel)
      kernel.provide('scimTokenDigests', { digestsOf: (_ctx, token) => digestsOfToken(token, scimSecret) })
      if (routes) addRoutes({ kernel, cookie, findRow, schemes: apps }, routes === true ? clientRoutes : routes)
      const findTarget = (service: string) =>
        findService(() => kernel.service(service as 'passwordTakeover')) as ImportTarget<never> | undefined
      if (db && openSource) {
        const parts = { openSource, secretsOf: (ctx: AnyContext) => secrets ?? ctx.settings.secret, findTarget }
        removeUsedCodes(kernel, { db, schema, findRow, secrets, noteWrite: (ctx, userId) => refreshAccess(ctx, parts, userId) })
        watchKeys(kernel, parts)
        kernel.provide('sharedPasswords', sharePasswords(parts))
        kernel.provide('sharedCredentials', createSharedCredentials(db, schema, openSource))
        // Before the second factor is asked, and before a ban is looked at where this plugin is used first.
        kernel.hook('signIn', async ({ user, ctx }) => {
          if (user.id !== undefined) await refreshAccess(ctx, parts, user.id)
          return true
        })
      }
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
        // The type of an account lacks the column `password`, which better-auth has.
        if (typeof account?.password === 'string') await store.updateAccount({ ...key, password: null } as never)
      })
      kernel.records('importEntry', entryTable)
      const ground = (fallback: readonly string[]): Ground => {
        if (!db) throw new AuthError('Plugin "better-auth-compat": give the Kysely instance of your database as `db`.')
        return { database: db, schema, secrets: secrets ?? fallback, scimSecret, findTarget }
      }
      return {
        betterAuth: {
          async takeOver({ apply, accept, conflicts, onProgress, ...tenant } = {}) {
            const ctx = await kernel.contextOf(jobFor('better-auth', tenant))
            return takeOver(ctx, ground(ctx.settings.secret), { apply, accept, conflicts, onProgress })
          },
          async finish({ accept = [], ...tenant } = {}) {
            const ctx = await kernel.contextOf(jobFor('better-auth', tenant))
            return finishMove(ctx, ground(ctx.settings.secret), accept)
          },
          async compare(tenant = {}) {
            const ctx = await kernel.contextOf(jobFor('better-auth', tenant))
            return compareWithLedger(ctx, ground(ctx.settings.secret))
          },
        },
      }
    },
  }
}

function withTables(models: BetterAuthSchema['models'], tables: BetterAuthTables): BetterAuthSchema['models'] {
  const named = Object.entries(tables).map(([model, modelName]) => [model, { ...models?.[model as BetterAuthModel], modelName }] as const)
  return { ...models, ...Object.fromEntries(named) }
}

/** Undefined where no plugin provides the service. */
function findService<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch {
    return undefined
  }
}
