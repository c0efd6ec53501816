import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface DropboxProfile {
  [field: string]: unknown
  account_id?: string
  name?: { display_name?: string; given_name?: string; surname?: string }
  email?: string
  email_verified?: boolean
  profile_photo_url?: string | null
  country?: string
}

/**
 * Sign-in with Dropbox. Register: an app with the permission account_info.read, at https://www.dropbox.com/developers/apps.
 * - Userinfo is a POST without a body. `token_access_type: offline` brings a refresh token.
 * @see https://developers.dropbox.com/oauth-guide
 */
export default function dropbox(options: OAuthUserConfig<DropboxProfile> = {}): OAuthConfig<DropboxProfile> {
  return {
    id: 'dropbox',
    name: 'Dropbox',
    type: 'oauth',
    authorization: {
      url: 'https://www.dropbox.com/oauth2/authorize',
      params: { token_access_type: 'offline', scope: 'account_info.read' },
    },
    token: 'https://api.dropboxapi.com/oauth2/token',
    userinfo: { url: 'https://api.dropboxapi.com/2/users/get_current_account', method: 'POST' },
    profile: (profile) => ({
      id: profile.account_id,
      name: profile.name?.display_name,
      email: profile.email,
      image: profile.profile_photo_url,
    }),
    style: { brandColor: '#0061fe', logo },
    options,
  }
}
export { dropbox }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M6 1.807L0 5.629l6 3.822 6.001-3.822L6 1.807zM18 1.807l-6 3.822 6 3.822 6-3.822-6-3.822zM0 13.274l6 3.822 6.001-3.822L6 9.452l-6 3.822zM18 9.452l-6 3.822 6 3.822 6-3.822-6-3.822zM6 18.371l6.001 3.822 6-3.822-6-3.822L6 18.371z"/></svg>'
