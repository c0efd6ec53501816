import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface OktaProfile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  preferred_username?: string
}
/** What Okta needs, and what may be changed. */
export type OktaOptions = OIDCUserConfig<OktaProfile> &
  (
    | {
        /** `https://acme.okta.com`, or that of an authorization server: `…/oauth2/default`. */
        issuer?: string | undefined
        domain?: undefined
      }
    | {
        /** `acme.okta.com`: the organisation's own authorization server. */
        domain: string
        issuer?: undefined
      }
  )

/**
 * Sign-in with Okta. Register: a web application, in the admin console of your organisation.
 * @see https://developer.okta.com/docs/guides/sign-into-web-app-redirect/
 */
export default function okta(options: OktaOptions): OIDCConfig<OktaProfile> {
  return {
    id: 'okta',
    name: 'Okta',
    type: 'oidc',
    issuer: options.domain ? `https://${options.domain}` : undefined,
    checks: ['pkce', 'state'],
    style: { brandColor: '#007dc1', logo },
    options,
  }
}
export { okta }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M12 0C5.389 0 0 5.35 0 12s5.35 12 12 12 12-5.35 12-12S18.611 0 12 0zm0 18c-3.325 0-6-2.675-6-6s2.675-6 6-6 6 2.675 6 6-2.675 6-6 6z"/></svg>'
