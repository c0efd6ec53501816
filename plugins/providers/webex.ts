import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface WebexProfile {
  [field: string]: unknown
  id?: string
  emails?: string[]
  displayName?: string
  firstName?: string
  lastName?: string
  avatar?: string
  orgId?: string
}
/** What Webex needs, and what may be changed. */
export interface WebexOptions extends OAuthUserConfig<WebexProfile> {
  /** Default `https://webexapis.com/v1`. */
  apiBaseUrl?: string | undefined
}

/**
 * Sign-in with Webex. Register: an integration, at https://developer.webex.com/my-apps.
 * @see https://developer.webex.com/docs/integrations
 */
export default function webex(options: WebexOptions = {}): OAuthConfig<WebexProfile> {
  const api = options.apiBaseUrl?.replace(/(?<!\/)\/+$/, '') || 'https://webexapis.com/v1'
  return {
    id: 'webex',
    name: 'Webex',
    type: 'oauth',
    authorization: { url: `${api}/authorize`, params: { scope: 'spark:kms spark:people_read' } },
    token: `${api}/access_token`,
    userinfo: `${api}/people/me`,
    profile: (profile) => ({
      id: profile.id,
      name: profile.displayName,
      email: profile.emails?.[0],
      image: profile.avatar,
    }),
    options,
  }
}
export { webex }
