import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the signed userinfo answer. */
export interface BankIdNoProfile extends Profile {
  sub: string
  name?: string
  given_name?: string
  family_name?: string
  birthdate?: string
  email?: string
  email_verified?: boolean
  bankid_altsub?: string
}

/**
 * Sign-in with BankID Norge. Register: through a reseller of BankID Norge.
 * - Userinfo is a signed JWT. `issuer: 'https://auth.current.bankid.no/auth/realms/current'` is the test environment.
 * @see https://developer.bankid.no/bankid-with-biometrics/
 */
export default function bankidNo(options: OIDCUserConfig<BankIdNoProfile> = {}): OIDCConfig<BankIdNoProfile> {
  return {
    id: 'bankid-no',
    name: 'BankID Norge',
    type: 'oidc',
    issuer: 'https://auth.bankid.no/auth/realms/prod',
    authorization: { params: { ui_locales: 'no', login_hint: 'BIS' } },
    idToken: false,
    checks: ['pkce', 'state', 'nonce'],
    client: { token_endpoint_auth_method: 'client_secret_post', userinfo_signed_response_alg: 'RS256' },
    profile: (profile) => ({
      id: profile.sub,
      name: profile.name,
      email: profile.email ?? null,
      image: null,
    }),
    style: { brandColor: '#39134c' },
    options,
  }
}
export { bankidNo }
