import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface VercelProfile {
  [field: string]: unknown
  sub?: string
  name?: string
  preferred_username?: string
  email?: string
  email_verified?: boolean
  picture?: string
}

/**
 * Sign-in with Vercel. Register: an app with "Sign in with Vercel", in the settings of a team.
 * - Enable the scopes `openid`, `profile` and `email` on the permissions page of the app.
 * @see https://vercel.com/docs/sign-in-with-vercel
 */
export default function vercel(options: OAuthUserConfig<VercelProfile> = {}): OAuthConfig<VercelProfile> {
  return {
    id: 'vercel',
    name: 'Vercel',
    type: 'oauth',
    authorization: { url: 'https://vercel.com/oauth/authorize', params: { scope: 'openid profile email' } },
    token: 'https://api.vercel.com/login/oauth/token',
    userinfo: 'https://api.vercel.com/login/oauth/userinfo',
    client: { token_endpoint_auth_method: 'client_secret_post' },
    profile: (profile) => ({
      id: profile.sub,
      name: profile.name ?? profile.preferred_username,
      email: profile.email,
      image: profile.picture,
    }),
    style: { brandColor: '#000000', logo },
    options,
  }
}
export { vercel }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="m12 1.608 12 20.784H0Z"/></svg>'
