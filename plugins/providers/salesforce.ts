import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface SalesforceProfile extends Profile {
  /** A URL: `https://login.salesforce.com/id/<organisation>/<user>`. */
  sub: string
  name?: string
  nickname?: string
  email?: string
  email_verified?: boolean
  picture?: string
  organization_id?: string
}

/**
 * Sign-in with Salesforce. Register: a connected app with OAuth, in the setup of your organisation.
 * - `issuer: 'https://test.salesforce.com'` for a sandbox, or the URL of My Domain.
 * @see https://help.salesforce.com/s/articleView?id=sf.sso_provider_openid_connect.htm
 */
export default function salesforce(options: OIDCUserConfig<SalesforceProfile> = {}): OIDCConfig<SalesforceProfile> {
  return {
    id: 'salesforce',
    name: 'Salesforce',
    type: 'oidc',
    issuer: 'https://login.salesforce.com',
    idToken: false,
    checks: ['pkce', 'state', 'nonce'],
    style: { brandColor: '#00a1e0' },
    options,
  }
}
export { salesforce }
