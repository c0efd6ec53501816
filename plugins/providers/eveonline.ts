import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface EveOnlineProfile {
  [field: string]: unknown
  CharacterID?: number
  CharacterName?: string
  CharacterOwnerHash?: string
  ExpiresOn?: string
  Scopes?: string
  TokenType?: string
}

/**
 * Sign-in with EVE Online. Register: an application, at https://developers.eveonline.com/applications.
 * - No email address, no PKCE. `/oauth/verify` is announced to go away; the access token, a JWT, holds the same facts.
 * @see https://developers.eveonline.com/docs/services/sso/
 */
export default function eveonline(options: OAuthUserConfig<EveOnlineProfile> = {}): OAuthConfig<EveOnlineProfile> {
  return {
    id: 'eveonline',
    name: 'EVE Online',
    type: 'oauth',
    authorization: { url: 'https://login.eveonline.com/v2/oauth/authorize', params: { scope: 'publicData' } },
    token: 'https://login.eveonline.com/v2/oauth/token',
    userinfo: 'https://login.eveonline.com/oauth/verify',
    checks: ['state'],
    profile: (profile) => ({
      id: String(profile.CharacterID),
      name: profile.CharacterName,
      email: null,
      image: profile.CharacterID ? `https://images.evetech.net/characters/${profile.CharacterID}/portrait?size=128` : null,
    }),
    options,
  }
}
export { eveonline }
