import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface LinkedInProfile extends Profile {
  sub: string
  name?: string
  given_name?: string
  family_name?: string
  email?: string
  picture?: string
}

/**
 * Sign-in with LinkedIn. Register: an app with "Sign In with LinkedIn using OpenID Connect", at
 * https://www.linkedin.com/developers/apps.
 * - No PKCE. ID tokens may carry `email_verified` as a string.
 * @see https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
 */
export default function linkedin(options: OIDCUserConfig<LinkedInProfile> = {}): OIDCConfig<LinkedInProfile> {
  return {
    id: 'linkedin',
    name: 'LinkedIn',
    type: 'oidc',
    trustEmail: true,
    issuer: 'https://www.linkedin.com/oauth',
    checks: ['state'],
    client: { token_endpoint_auth_method: 'client_secret_post' },
    emailVerifiedStrings: ['true'],
    style: { brandColor: '#0a66c2' },
    options,
  }
}
export { linkedin }
