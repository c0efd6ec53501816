/** Options of `portalPlugin`. */
import { type AnyContext, assertOptions, AuthError, type Awaitable } from 'authkernel/kernel'

/** What `portalPlugin` takes. */
export interface PortalOptions {
  /** Whether a member may send links. Asked again at each visit of the portal. Default: members with the role `owner`. */
  manage?: ((question: { userId: string; organizationId: string; role: string; ctx: AnyContext }) => Awaitable<boolean>) | undefined
  /** Days that a link can last at most, 1 to 90; default 30. */
  maxDays?: number | undefined
  /** Links of one organization that are not over, 1 to 100; default 20. */
  maxLinks?: number | undefined
  /** Highest age in seconds of the owner's proof when a request makes a link, 60 to 86400; default 900. */
  proofAge?: number | undefined
}
/** With the defaults in place. */
export type ResolvedOptions = { readonly [K in keyof PortalOptions]-?: NonNullable<PortalOptions[K]> }

/** Throws AuthError that names the option. */
export function resolveOptions(options: PortalOptions): ResolvedOptions {
  assertOptions('Plugin "portal"', options, { manage: true, maxDays: true, maxLinks: true, proofAge: true })
  const { manage = ({ role }) => role === 'owner', maxDays = 30, maxLinks = 20, proofAge = 900 } = options
  if (typeof manage !== 'function') throw new AuthError('Plugin "portal": `manage` must be a function.')
  assertWhole('maxDays', maxDays, 1, 90)
  assertWhole('maxLinks', maxLinks, 1, 100)
  assertWhole('proofAge', proofAge, 60, 86_400)
  return { manage, maxDays, maxLinks, proofAge }
}

function assertWhole(option: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most)
    throw new AuthError(`Plugin "portal": \`${option}\` must be a whole number from ${least} to ${most}.`)
}
