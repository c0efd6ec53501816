import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface AtlassianProfile {
  [field: string]: unknown
  account_id?: string
  account_status?: string
  name?: string
  nickname?: string
  email?: string
  email_verified?: boolean
  picture?: string
}

/**
 * Sign-in with Atlassian. Register: an OAuth 2.0 (3LO) app with the User identity API, at
 * https://developer.atlassian.com/console/myapps.
 * - No PKCE. Refresh tokens need the scope `offline_access`.
 * @see https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/
 */
export default function atlassian(options: OAuthUserConfig<AtlassianProfile> = {}): OAuthConfig<AtlassianProfile> {
  return {
    id: 'atlassian',
    name: 'Atlassian',
    type: 'oauth',
    authorization: { url: 'https://auth.atlassian.com/authorize', params: { audience: 'api.atlassian.com', scope: 'read:me' } },
    token: 'https://auth.atlassian.com/oauth/token',
    userinfo: 'https://api.atlassian.com/me',
    checks: ['state'],
    profile: (profile) => ({
      id: profile.account_id,
      name: profile.name,
      email: profile.email,
      image: profile.picture,
    }),
    style: { brandColor: '#0052cc', logo },
    options,
  }
}
export { atlassian }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M7.12 11.084a.683.683 0 00-1.16.126L.075 22.974a.703.703 0 00.63 1.018h8.19a.678.678 0 00.63-.39c1.767-3.65.696-9.203-2.406-12.52zM11.434.386a15.515 15.515 0 00-.906 15.317l3.95 7.9a.703.703 0 00.628.388h8.19a.703.703 0 00.63-1.017L12.63.38a.664.664 0 00-1.196.006z"/></svg>'
