import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface KeycloakProfile extends Profile {
  sub: string
  name?: string
  preferred_username?: string
  email?: string
  email_verified?: boolean
  picture?: string
  realm_access?: { roles?: string[] }
}
/** What Keycloak needs, and what may be changed. */
export type KeycloakOptions = OIDCUserConfig<KeycloakProfile> &
  (
    | {
        /** `https://host/realms/<realm>`. */
        issuer?: string | undefined
        baseUrl?: undefined
        realm?: undefined
      }
    | {
        /** `https://host`, before version 17 `https://host/auth`. */
        baseUrl: string
        realm: string
        issuer?: undefined
      }
  )

/**
 * Sign-in with Keycloak. Register: a client with client authentication, in the realm.
 * @see https://www.keycloak.org/securing-apps/oidc-layers
 */
export default function keycloak(options: KeycloakOptions): OIDCConfig<KeycloakProfile> {
  return {
    id: 'keycloak',
    name: 'Keycloak',
    type: 'oidc',
    issuer: options.baseUrl && options.realm && `${options.baseUrl.replace(/(?<!\/)\/+$/, '')}/realms/${options.realm}`,
    style: { brandColor: '#428bca' },
    options,
  }
}
export { keycloak }
