import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface DescopeProfile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  picture?: string
}

/**
 * Sign-in with Descope. Register: an OIDC application, at https://app.descope.com.
 * - The client id is the project id, and part of the issuer.
 * @see https://docs.descope.com/getting-started/oidc-endpoints
 */
export default function descope(options: OIDCUserConfig<DescopeProfile> = {}): OIDCConfig<DescopeProfile> {
  return {
    id: 'descope',
    name: 'Descope',
    type: 'oidc',
    ...(!options.issuer && {
      wellKnown: 'https://api.descope.com/{clientId}/.well-known/openid-configuration',
      discoveryIssuer: 'https://api.descope.com/{clientId}',
    }),
    checks: ['pkce', 'state'],
    style: { brandColor: '#1c1c23' },
    options,
  }
}
export { descope }
