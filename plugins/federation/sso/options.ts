/** Options of `ssoPlugin`. */
import { assertOptions, AuthError, type AnyContext, type Awaitable } from 'authkernel/kernel'

/** What `ssoPlugin` takes. */
export interface SsoOptions {
  /** Whether a member may change the connections and policies of an organization. Default: members with the role `owner`. */
  manage?: ((question: { userId: string; organizationId: string; role: string; ctx: AnyContext }) => Awaitable<boolean>) | undefined
  /** Connections of one organization, 1 to 50; default 10. */
  max?: number | undefined
  /** Days that the log keeps a sign-in, 1 to 365; default 30. */
  logDays?: number | undefined
  /** Highest age in seconds of the user's proof when a request changes a connection or a policy, 60 to 86400; default 900. */
  proofAge?: number | undefined
}
/** With the defaults in place. */
export type ResolvedOptions = { readonly [K in keyof SsoOptions]-?: NonNullable<SsoOptions[K]> }

/** Throws AuthError that names the option. */
export function resolveOptions(options: SsoOptions): ResolvedOptions {
  assertOptions('Plugin "sso"', options, { manage: true, max: true, logDays: true, proofAge: true })
  const { manage = ({ role }) => role === 'owner', max = 10, logDays = 30, proofAge = 900 } = options
  if (typeof manage !== 'function') throw new AuthError('Plugin "sso": `manage` must be a function.')
  assertWhole('max', max, 1, 50)
  assertWhole('logDays', logDays, 1, 365)
  assertWhole('proofAge', proofAge, 60, 86_400)
  return { manage, max, logDays, proofAge }
}

function assertWhole(option: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most)
    throw new AuthError(`Plugin "sso": \`${option}\` must be a whole number from ${least} to ${most}.`)
}
