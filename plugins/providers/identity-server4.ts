import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface IdentityServer4Profile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
}
/** What IdentityServer4 needs, and what may be changed. */
export type IdentityServer4Options = OIDCUserConfig<IdentityServer4Profile> & {
  /** URL of the server */
  issuer?: string | undefined
}

/**
 * Sign-in with IdentityServer4. Register: a client, in the configuration of your server.
 * @deprecated without security updates since 2022-11; the successor is Duende IdentityServer (`duende-identity-server6`)
 * @see https://identityserver4.readthedocs.io
 */
export default function identityServer4(options: IdentityServer4Options): OIDCConfig<IdentityServer4Profile> {
  return {
    id: 'identity-server4',
    name: 'IdentityServer4',
    type: 'oidc',
    options,
  }
}
export { identityServer4 }
