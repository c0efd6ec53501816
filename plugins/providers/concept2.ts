import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface Concept2Profile {
  [field: string]: unknown
  data?: { id?: number; username?: string; email?: string; first_name?: string; last_name?: string; profile_image?: string | null }
}

/**
 * Sign-in with Concept2. Register: an API application, at https://log.concept2.com/developers/keys.
 * - Scopes are separated by commas; the default one may write results.
 * @see https://log.concept2.com/developers/documentation/
 */
export default function concept2(options: OAuthUserConfig<Concept2Profile> = {}): OAuthConfig<Concept2Profile> {
  return {
    id: 'concept2',
    name: 'Concept2',
    type: 'oauth',
    authorization: { url: 'https://log.concept2.com/oauth/authorize', params: { scope: 'user:read,results:write' } },
    token: 'https://log.concept2.com/oauth/access_token',
    userinfo: 'https://log.concept2.com/api/users/me',
    profile: ({ data }) => ({
      id: String(data?.id),
      name: data?.username,
      email: data?.email,
      image: data?.profile_image,
    }),
    options,
  }
}
export { concept2 }
