import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface FronteggProfile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  tenantId?: string
  roles?: string[]
  permissions?: string[]
}
/** What Frontegg needs, and what may be changed. */
export type FronteggOptions = OIDCUserConfig<FronteggProfile> & {
  /** `https://<sub-domain>.frontegg.com` */
  issuer?: string | undefined
}

/**
 * Sign-in with Frontegg. Register: an application, at https://portal.frontegg.com.
 * - The discovery document is read for the keys only.
 * @see https://developers.frontegg.com
 */
export default function frontegg(options: FronteggOptions): OIDCConfig<FronteggProfile> {
  return {
    id: 'frontegg',
    name: 'Frontegg',
    type: 'oidc',
    wellKnown: '{issuer}/oauth/.well-known/openid-configuration',
    authorization: '{issuer}/oauth/authorize',
    token: '{issuer}/oauth/token',
    userinfo: '{issuer}/identity/resources/users/v2/me',
    options,
  }
}
export { frontegg }
