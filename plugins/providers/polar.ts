import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface PolarProfile {
  [field: string]: unknown
  sub?: string
  id?: string
  name?: string
  public_name?: string
  username?: string
  email?: string
  email_verified?: boolean
  picture?: string
  avatar_url?: string
}

/**
 * Sign-in with Polar. Register: an OAuth client, in the developer settings at https://polar.sh/settings.
 * @see https://polar.sh/docs/integrate/oauth2/introduction
 */
export default function polar(options: OAuthUserConfig<PolarProfile> = {}): OAuthConfig<PolarProfile> {
  return {
    id: 'polar',
    name: 'Polar',
    type: 'oauth',
    authorization: { url: 'https://polar.sh/oauth2/authorize', params: { scope: 'openid profile email' } },
    token: 'https://api.polar.sh/v1/oauth2/token',
    userinfo: 'https://api.polar.sh/v1/oauth2/userinfo',
    profile: (profile) => ({
      id: profile.sub ?? profile.id,
      name: profile.name ?? profile.public_name ?? profile.username,
      email: profile.email,
      image: profile.picture ?? profile.avatar_url,
    }),
    options,
  }
}
export { polar }
