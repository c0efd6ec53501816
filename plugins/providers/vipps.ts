import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface VippsProfile extends Profile {
  sub: string
  name?: string
  given_name?: string
  family_name?: string
  email?: string
  email_verified?: boolean
  phone_number?: string
}

/**
 * Sign-in with Vipps. Register: a sales unit with "Vipps Login", at https://portal.vippsmobilepay.com.
 * - `issuer: 'https://apitest.vipps.no/access-management-1.0/access/'` is the test environment.
 * @see https://developer.vippsmobilepay.com/docs/APIs/login-api/
 */
export default function vipps(options: OIDCUserConfig<VippsProfile> = {}): OIDCConfig<VippsProfile> {
  return {
    id: 'vipps',
    name: 'Vipps',
    type: 'oidc',
    issuer: 'https://api.vipps.no/access-management-1.0/access/',
    authorization: { params: { scope: 'openid name email' } },
    idToken: false,
    checks: ['pkce', 'state', 'nonce'],
    style: { brandColor: '#f05c18' },
    options,
  }
}
export { vipps }
