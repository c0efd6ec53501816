import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface ClickUpProfile {
  [field: string]: unknown
  user?: { id?: number; username?: string; email?: string; color?: string; profilePicture?: string | null }
}

/**
 * Sign-in with ClickUp. Register: an app, in the settings of a workspace.
 * - No PKCE. The address is in the profile, but ClickUp does not say whether it is verified: map it in `profile` if you need it.
 * @see https://developer.clickup.com/docs/authentication
 */
export default function clickUp(options: OAuthUserConfig<ClickUpProfile> = {}): OAuthConfig<ClickUpProfile> {
  return {
    id: 'click-up',
    name: 'ClickUp',
    type: 'oauth',
    authorization: 'https://app.clickup.com/api',
    scope: '',
    token: { url: 'https://api.clickup.com/api/v2/oauth/token', defaults: { token_type: 'bearer' } },
    userinfo: 'https://api.clickup.com/api/v2/user',
    checks: ['state'],
    profile: ({ user }) => ({
      id: String(user?.id),
      name: user?.username,
      image: user?.profilePicture,
      profilePicture: user?.profilePicture,
      color: user?.color,
    }),
    style: { brandColor: '#7b68ee', logo },
    options,
  }
}
export { clickUp }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M2 18.439l3.69-2.828c1.961 2.56 4.044 3.739 6.363 3.739 2.307 0 4.33-1.166 6.203-3.704L22 18.405C19.298 22.065 15.941 24 12.053 24 8.178 24 4.788 22.078 2 18.439zM12.04 6.15l-6.568 5.66-3.036-3.52L12.055 0l9.543 8.296-3.05 3.509z"/></svg>'
