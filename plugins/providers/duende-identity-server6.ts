import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface DuendeIdentityServer6Profile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
}
/** What DuendeIdentityServer6 needs, and what may be changed. */
export type DuendeIdentityServer6Options = OIDCUserConfig<DuendeIdentityServer6Profile> & {
  /** URL of the server */
  issuer?: string | undefined
}

/**
 * Sign-in with DuendeIdentityServer6. Register: a client, in the configuration of your server.
 * - The demo server is `https://demo.duendesoftware.com`.
 * @deprecated version 6 is old; later versions speak the same protocol, so this preset serves them too
 * @see https://docs.duendesoftware.com/identityserver/
 */
export default function duendeIdentityServer6(options: DuendeIdentityServer6Options): OIDCConfig<DuendeIdentityServer6Profile> {
  return {
    id: 'duende-identity-server6',
    name: 'DuendeIdentityServer6',
    type: 'oidc',
    options,
  }
}
export { duendeIdentityServer6 }
