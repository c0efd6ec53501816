import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface PayPalProfile {
  [field: string]: unknown
  /** A URL that ends in the id. */
  user_id?: string
  payer_id?: string
  name?: string
  given_name?: string
  family_name?: string
  email?: string
  email_verified?: boolean
  emails?: { value: string; primary?: boolean; confirmed?: boolean }[]
  picture?: string
  verified_account?: boolean | string
}
/** What PayPal needs, and what may be changed. */
export interface PayPalOptions extends OAuthUserConfig<PayPalProfile> {
  /** Default `live`. */
  environment?: 'live' | 'sandbox' | undefined
}

/**
 * Sign-in with PayPal. Register: a REST app with "Log in with PayPal", at https://developer.paypal.com/dashboard/applications.
 * - No PKCE. Enable the full name and the address among the app's "Log in with PayPal" settings, or PayPal rejects the scope.
 * @see https://developer.paypal.com/docs/log-in-with-paypal/
 */
export default function paypal(options: PayPalOptions = {}): OAuthConfig<PayPalProfile> {
  const host = options.environment === 'sandbox' ? 'sandbox.paypal.com' : 'paypal.com'
  return {
    id: 'paypal',
    name: 'PayPal',
    type: 'oauth',
    authorization: { url: `https://www.${host}/signin/authorize`, params: { scope: 'openid profile email' } },
    token: `https://api-m.${host}/v1/oauth2/token`,
    userinfo: { url: `https://api-m.${host}/v1/identity/oauth2/userinfo`, params: { schema: 'paypalv1.1' } },
    checks: ['state'],
    emailVerified: (profile) => findPrimaryEmail(profile)?.confirmed ?? profile.email_verified,
    profile: (profile) => ({
      id: profile.user_id,
      name: profile.name,
      email: profile.email ?? findPrimaryEmail(profile)?.value,
      image: profile.picture,
    }),
    style: { brandColor: '#002991', logo },
    options,
  }
}
export { paypal }

function findPrimaryEmail({ emails }: PayPalProfile): { value: string; confirmed?: boolean } | undefined {
  return emails?.find((address) => address.primary) ?? emails?.[0]
}

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M15.607 4.653H8.941L6.645 19.251H1.82L4.862 0h7.995c3.754 0 6.375 2.294 6.473 5.513-.648-.478-2.105-.86-3.722-.86m6.57 5.546c0 3.41-3.01 6.853-6.958 6.853h-2.493L11.595 24H6.74l1.845-11.538h3.592c4.208 0 7.346-3.634 7.153-6.949a5.24 5.24 0 0 1 2.848 4.686M9.653 5.546h6.408c.907 0 1.942.222 2.363.541-.195 2.741-2.655 5.483-6.441 5.483H8.714Z"/></svg>'
