import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Member `user` of the answer. */
export interface GumroadProfile {
  [field: string]: unknown
  user_id?: string
  id?: string
  name?: string
  email?: string
  url?: string
  profile_picture_url?: string
}

/**
 * Sign-in with Gumroad. Register: an application, at https://gumroad.com/settings/advanced.
 * - No PKCE.
 * @see https://gumroad.com/api
 */
export default function gumroad(options: OAuthUserConfig<GumroadProfile> = {}): OAuthConfig<GumroadProfile> {
  return {
    id: 'gumroad',
    name: 'Gumroad',
    type: 'oauth',
    authorization: { url: 'https://gumroad.com/oauth/authorize', params: { scope: 'view_profile' } },
    token: 'https://api.gumroad.com/oauth/token',
    userinfo: { url: 'https://api.gumroad.com/v2/user', unwrap: 'user' },
    checks: ['state'],
    client: { token_endpoint_auth_method: 'client_secret_post' },
    profile: (profile) => ({
      id: profile.user_id ?? profile.id,
      name: profile.name,
      email: profile.email,
      image: profile.profile_picture_url,
    }),
    style: { brandColor: '#ff90e8', logo },
    options,
  }
}
export { gumroad }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M12 0A12 12 0 0 0 0 12a12 12 0 0 0 12 12 12 12 0 0 0 12-12A12 12 0 0 0 12 0Zm-.007 5.12c4.48 0 5.995 3.025 6.064 4.744h-3.239c-.069-.962-.897-2.406-2.896-2.406-2.136 0-3.514 1.857-3.514 4.126 0 2.27 1.378 4.125 3.514 4.125 1.93 0 2.758-1.512 3.103-3.025h-3.103v-1.238h6.509v6.327h-2.855v-3.989c-.207 1.444-1.102 4.264-4.617 4.264-3.516 0-5.584-2.82-5.584-6.326 0-3.645 2.276-6.602 6.618-6.602z"/></svg>'
