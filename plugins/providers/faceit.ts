import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface FACEITProfile {
  [field: string]: unknown
  guid?: string
  name?: string
  nickname?: string
  email?: string
  email_verified?: boolean
  picture?: string
}

/**
 * Sign-in with FACEIT. Register: an OAuth2 client, at https://developers.faceit.com.
 * - Scopes are chosen in the client's registration.
 * @see https://docs.faceit.com/getting-started/Guides/faceit-connect
 */
export default function faceit(options: OAuthUserConfig<FACEITProfile> = {}): OAuthConfig<FACEITProfile> {
  return {
    id: 'faceit',
    name: 'FACEIT',
    type: 'oauth',
    authorization: { url: 'https://accounts.faceit.com/accounts', params: { redirect_popup: 'true' } },
    scope: '',
    token: 'https://api.faceit.com/auth/v1/oauth/token',
    userinfo: 'https://api.faceit.com/auth/v1/resources/userinfo',
    profile: (profile) => ({
      id: profile.guid,
      name: profile.name,
      email: profile.email,
      image: profile.picture,
    }),
    style: { brandColor: '#ff5500', logo },
    options,
  }
}
export { faceit }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M23.999 2.705a.167.167 0 00-.312-.1 1141.27 1141.27 0 00-6.053 9.375H.218c-.221 0-.301.282-.11.352 7.227 2.73 17.667 6.836 23.5 9.134.15.06.39-.08.39-.18z"/></svg>'
