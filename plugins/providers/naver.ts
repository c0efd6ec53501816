import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface NaverProfile {
  [field: string]: unknown
  resultcode?: string
  message?: string
  response?: { id?: string; nickname?: string; name?: string; email?: string; profile_image?: string }
}

/**
 * Sign-in with Naver. Register: an application with Naver Login, at https://developers.naver.com/apps.
 * @see https://developers.naver.com/docs/login/api/api.md
 */
export default function naver(options: OAuthUserConfig<NaverProfile> = {}): OAuthConfig<NaverProfile> {
  return {
    id: 'naver',
    name: 'Naver',
    type: 'oauth',
    authorization: 'https://nid.naver.com/oauth2.0/authorize',
    scope: '',
    token: 'https://nid.naver.com/oauth2.0/token',
    userinfo: 'https://openapi.naver.com/v1/nid/me',
    profile: ({ response }) => ({
      id: response?.id,
      name: response?.nickname,
      email: response?.email,
      image: response?.profile_image,
    }),
    style: { brandColor: '#03c75a', logo },
    options,
  }
}
export { naver }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M16.273 12.845 7.376 0H0v24h7.726V11.156L16.624 24H24V0h-7.727v12.845Z"/></svg>'
