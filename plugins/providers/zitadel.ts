import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface ZITADELProfile extends Profile {
  sub: string
  name?: string
  preferred_username?: string
  email?: string
  email_verified?: boolean
  picture?: string
  'urn:zitadel:iam:org:project:roles'?: Record<string, Record<string, string>>
}
/** What ZITADEL needs, and what may be changed. */
export type ZITADELOptions = OIDCUserConfig<ZITADELProfile> &
  (
    | {
        /** `https://acme.zitadel.cloud`. */
        issuer?: string | undefined
        domain?: undefined
      }
    | {
        /** `acme.zitadel.cloud`, or a custom domain. */
        domain: string
        issuer?: undefined
      }
  )

/**
 * Sign-in with ZITADEL. Register: a web application with PKCE or a secret, in a project.
 * - Profile claims are in the ID token only when "User Info inside ID Token" is on.
 * @see https://zitadel.com/docs/guides/integrate/login/oidc/login-users
 */
export default function zitadel(options: ZITADELOptions): OIDCConfig<ZITADELProfile> {
  return {
    id: 'zitadel',
    name: 'ZITADEL',
    type: 'oidc',
    issuer: options.domain ? `https://${options.domain}` : undefined,
    options,
  }
}
export { zitadel }
