import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface KickProfile {
  [field: string]: unknown
  user_id?: number
  name?: string
  email?: string
  profile_picture?: string
}

/**
 * Sign-in with Kick. Register: an app, at https://kick.com/settings/developer (needs two-factor authentication).
 * - Kick does not say whether an address is verified.
 * @see https://docs.kick.com/getting-started/generating-tokens-oauth2-flow
 */
export default function kick(options: OAuthUserConfig<KickProfile> = {}): OAuthConfig<KickProfile> {
  return {
    id: 'kick',
    name: 'Kick',
    type: 'oauth',
    authorization: { url: 'https://id.kick.com/oauth/authorize', params: { scope: 'user:read' } },
    token: 'https://id.kick.com/oauth/token',
    userinfo: { url: 'https://api.kick.com/public/v1/users', unwrap: 'data.0' },
    client: { token_endpoint_auth_method: 'client_secret_post' },
    profile: (profile) => ({
      id: String(profile.user_id),
      name: profile.name,
      email: profile.email,
      image: profile.profile_picture,
    }),
    style: { brandColor: '#53fc19', logo },
    options,
  }
}
export { kick }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M1.333 0h8v5.333H12V2.667h2.667V0h8v8H20v2.667h-2.667v2.666H20V16h2.667v8h-8v-2.667H12v-2.666H9.333V24h-8Z"/></svg>'
