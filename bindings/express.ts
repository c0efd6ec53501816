/** Express 4 and 5: `createAuth().use(expressBinding())`, or `ExpressAuth(config)` and `getSession(req, config)`. */
import type { AuthConfig } from 'authkernel'
import { assertOptions, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import type { ConfigSource } from './_configs.ts'
import { type ExpressApi, expressApi, type ExpressHandler, type ExpressRequest, faceOf } from './_apis/express.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { Account, DefaultSession, Profile, Session, User } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export type * from './_apis/express.ts'

/** Options of `ExpressAuth` and `getSession`: those of `createAuth` without `raw`. */
export type ExpressAuthConfig = Omit<AuthConfig, 'raw'>
/** Result of `getSession`: the session, or `null` for a request without a valid session. */
export type GetSessionResult = Promise<Session | null>

/**
 * `auth.express`, see `ExpressApi`.
 * @experimental The API may change in a minor version.
 */
export function expressBinding(options: NoOptions = {}): Plugin<{ express: ExpressApi }> {
  assertOptions('expressBinding', options, {})
  return { name: 'express', setup: (kernel) => ({ express: expressApi(() => kernel) }) }
}

/**
 * The handler of a configuration, or of a function of the request: `app.use('/auth/*splat', ExpressAuth(config))` (row 289).
 * @experimental The API may change in a minor version.
 */
export function ExpressAuth(config: ConfigSource<ExpressRequest>, ...plugins: readonly Plugin[]): ExpressHandler {
  return faceOf(config, plugins).handler
}

/**
 * The session of a request under the configuration given to `ExpressAuth` (row 290).
 * @experimental The API may change in a minor version.
 */
export function getSession(req: ExpressRequest, config: ConfigSource<ExpressRequest>): GetSessionResult {
  return faceOf(config).session(req)
}
