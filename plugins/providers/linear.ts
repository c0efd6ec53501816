import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** What the query asks about the viewer. */
export interface LinearProfile {
  [field: string]: unknown
  id?: string
  name?: string
  displayName?: string
  email?: string
  avatarUrl?: string | null
  active?: boolean
}

/**
 * Sign-in with Linear. Register: an OAuth application, at https://linear.app/settings/api/applications.
 * @see https://linear.app/developers/oauth-2-0-authentication
 */
export default function linear(options: OAuthUserConfig<LinearProfile> = {}): OAuthConfig<LinearProfile> {
  return {
    id: 'linear',
    name: 'Linear',
    type: 'oauth',
    authorization: { url: 'https://linear.app/oauth/authorize', params: { scope: 'read' } },
    token: 'https://api.linear.app/oauth/token',
    userinfo: {
      url: 'https://api.linear.app/graphql',
      method: 'POST',
      body: { query: 'query { viewer { id name displayName email avatarUrl active } }' },
      unwrap: 'data.viewer',
    },
    client: { token_endpoint_auth_method: 'client_secret_post' },
    profile: (profile) => ({
      id: profile.id,
      name: profile.name,
      email: profile.email,
      image: profile.avatarUrl,
    }),
    style: { brandColor: '#5e6ad2', logo },
    options,
  }
}
export { linear }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M2.886 4.18A11.982 11.982 0 0 1 11.99 0C18.624 0 24 5.376 24 12.009c0 3.64-1.62 6.903-4.18 9.105L2.887 4.18ZM1.817 5.626l16.556 16.556c-.524.33-1.075.62-1.65.866L.951 7.277c.247-.575.537-1.126.866-1.65ZM.322 9.163l14.515 14.515c-.71.172-1.443.282-2.195.322L0 11.358a12 12 0 0 1 .322-2.195Zm-.17 4.862 9.823 9.824a12.02 12.02 0 0 1-9.824-9.824Z"/></svg>'
