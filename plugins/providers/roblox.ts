import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface RobloxProfile extends Profile {
  sub: string
  name?: string
  nickname?: string
  preferred_username?: string
  picture?: string
  profile?: string
  created_at?: number
}

/**
 * Sign-in with Roblox. Register: an app, at https://create.roblox.com/dashboard/credentials.
 * - No email address.
 * @see https://create.roblox.com/docs/cloud/auth/oauth2-overview
 */
export default function roblox(options: OIDCUserConfig<RobloxProfile> = {}): OIDCConfig<RobloxProfile> {
  return {
    id: 'roblox',
    name: 'Roblox',
    type: 'oidc',
    issuer: 'https://apis.roblox.com/oauth/',
    authorization: { params: { scope: 'openid profile' } },
    checks: ['pkce', 'state'],
    style: { brandColor: '#5865f2', logo },
    options,
  }
}
export { roblox }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M18.926 23.998 0 18.892 5.075.002 24 5.108ZM15.348 10.09l-5.282-1.453-1.414 5.273 5.282 1.453z"/></svg>'
