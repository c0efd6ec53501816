import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface TwitterProfile {
  [field: string]: unknown
  data?: {
    id?: string
    name?: string
    username?: string
    profile_image_url?: string
    /** Only if the app may ask for it, with `user.fields` and a further scope. */
    email?: string
  }
}

/**
 * Sign-in with Twitter. Register: a project and an app with OAuth 2.0, at https://developer.x.com.
 * - No email address with the default scopes.
 * @see https://docs.x.com/resources/fundamentals/authentication/oauth-2-0/authorization-code
 */
export default function twitter(options: OAuthUserConfig<TwitterProfile> = {}): OAuthConfig<TwitterProfile> {
  return {
    id: 'twitter',
    name: 'Twitter',
    type: 'oauth',
    authorization: { url: 'https://x.com/i/oauth2/authorize', params: { scope: 'users.read tweet.read offline.access' } },
    token: 'https://api.x.com/2/oauth2/token',
    userinfo: { url: 'https://api.x.com/2/users/me', params: { 'user.fields': 'profile_image_url' } },
    checks: ['pkce', 'state'],
    profile: ({ data }) => ({
      id: data?.id,
      name: data?.name,
      email: data?.email ?? null,
      image: data?.profile_image_url,
    }),
    style: { brandColor: '#1da1f2', logo },
    options,
  }
}
export { twitter }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M14.234 10.162 22.977 0h-2.072l-7.591 8.824L7.251 0H.258l9.168 13.343L.258 24H2.33l8.016-9.318L16.749 24h6.993zm-2.837 3.299-.929-1.329L3.076 1.56h3.182l5.965 8.532.929 1.329 7.754 11.09h-3.182z"/></svg>'
