import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface StravaProfile {
  [field: string]: unknown
  id?: number
  username?: string | null
  firstname?: string
  lastname?: string
  /** URL of the picture. */
  profile?: string
}

/**
 * Sign-in with Strava. Register: an API application, at https://www.strava.com/settings/api.
 * - No email address. Scopes are separated by commas.
 * @see https://developers.strava.com/docs/authentication/
 */
export default function strava(options: OAuthUserConfig<StravaProfile> = {}): OAuthConfig<StravaProfile> {
  return {
    id: 'strava',
    name: 'Strava',
    type: 'oauth',
    authorization: {
      url: 'https://www.strava.com/api/v3/oauth/authorize',
      params: { scope: 'read', approval_prompt: 'auto', response_type: 'code' },
    },
    token: 'https://www.strava.com/api/v3/oauth/token',
    userinfo: 'https://www.strava.com/api/v3/athlete',
    client: { token_endpoint_auth_method: 'client_secret_post' },
    profile: (profile) => ({
      id: String(profile.id),
      name: [profile.firstname, profile.lastname].filter(Boolean).join(' ') || null,
      email: null,
      image: profile.profile,
    }),
    style: { brandColor: '#fc4c02', logo },
    options,
  }
}
export { strava }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M15.387 17.944l-2.089-4.116h-3.065L15.387 24l5.15-10.172h-3.066m-7.008-5.599l2.836 5.598h4.172L10.463 0l-7 13.828h4.169"/></svg>'
