import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface BoxyHQSAMLProfile {
  [field: string]: unknown
  id?: string
  email?: string
  firstName?: string
  lastName?: string
  requested?: { tenant?: string; product?: string }
}
/** What BoxyHQ SAML needs, and what may be changed. */
export type BoxyHQSAMLOptions = OAuthUserConfig<BoxyHQSAMLProfile> & {
  /** URL of the server. */
  issuer?: string | undefined
}

/**
 * Sign-in with BoxyHQ SAML. Register: an SSO connection, in your Jackson (Ory Polis) server.
 * - The connection is chosen by `tenant` and `product`: as authorization parameters of the sign-in, with `clientId: 'dummy'`.
 * @see https://www.ory.sh/docs/polis/
 */
export default function boxyhqSaml(options: BoxyHQSAMLOptions): OAuthConfig<BoxyHQSAMLProfile> {
  return {
    id: 'boxyhq-saml',
    name: 'BoxyHQ SAML',
    type: 'oauth',
    authorization: { url: '{issuer}/api/oauth/authorize', params: { provider: 'saml' } },
    scope: '',
    token: '{issuer}/api/oauth/token',
    userinfo: '{issuer}/api/oauth/userinfo',
    profile: (profile) => ({
      id: profile.id,
      name: [profile.firstName, profile.lastName].filter(Boolean).join(' '),
      email: profile.email,
      image: null,
    }),
    style: { brandColor: '#25c2a0' },
    options,
  }
}
export { boxyhqSaml }
