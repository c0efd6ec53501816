import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface PatreonProfile {
  [field: string]: unknown
  data?: {
    id?: string
    attributes?: { full_name?: string; email?: string; image_url?: string; is_email_verified?: boolean }
  }
}

/**
 * Sign-in with Patreon. Register: a client of API version 2, at https://www.patreon.com/portal/registration/register-clients.
 * - Patreon wants to retire this userinfo endpoint (API v1). The one of v2: `userinfo: { url:
 *   'https://www.patreon.com/api/oauth2/v2/identity', params: { 'fields[user]': 'full_name,email,image_url,is_email_verified' }
 *   }`.
 * @see https://docs.patreon.com/#oauth
 */
export default function patreon(options: OAuthUserConfig<PatreonProfile> = {}): OAuthConfig<PatreonProfile> {
  return {
    id: 'patreon',
    name: 'Patreon',
    type: 'oauth',
    authorization: { url: 'https://www.patreon.com/oauth2/authorize', params: { scope: 'identity identity[email]' } },
    token: 'https://www.patreon.com/api/oauth2/token',
    userinfo: 'https://www.patreon.com/api/oauth2/api/current_user',
    emailVerified: ({ data }) => data?.attributes?.is_email_verified,
    profile: ({ data }) => ({
      id: data?.id,
      name: data?.attributes?.full_name,
      email: data?.attributes?.email,
      image: data?.attributes?.image_url,
    }),
    style: { brandColor: '#e85b46', logo },
    options,
  }
}
export { patreon }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M22.957 7.21c-.004-3.064-2.391-5.576-5.191-6.482-3.478-1.125-8.064-.962-11.384.604C2.357 3.231 1.093 7.391 1.046 11.54c-.039 3.411.302 12.396 5.369 12.46 3.765.047 4.326-4.804 6.068-7.141 1.24-1.662 2.836-2.132 4.801-2.618 3.376-.836 5.678-3.501 5.673-7.031Z"/></svg>'
