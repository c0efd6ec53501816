import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface FacebookProfile {
  [field: string]: unknown
  id?: string
  name?: string
  email?: string
  picture?: { data?: { url?: string; width?: number; height?: number } }
}

/**
 * Sign-in with Facebook. Register: an app with Facebook Login, at https://developers.facebook.com/apps.
 * - More fields: `userinfo: { params: { fields: 'id,name,email,picture,birthday' } }`. Accounts made with a phone number have no
 *   address.
 * - Facebook answers an outdated version of the dialog with the oldest living one; `authorization: { url }` names another.
 * @see https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow
 */
export default function facebook(options: OAuthUserConfig<FacebookProfile> = {}): OAuthConfig<FacebookProfile> {
  return {
    id: 'facebook',
    name: 'Facebook',
    type: 'oauth',
    authorization: { url: 'https://www.facebook.com/v19.0/dialog/oauth', params: { scope: 'email' } },
    token: 'https://graph.facebook.com/oauth/access_token',
    userinfo: { url: 'https://graph.facebook.com/me', params: { fields: 'id,name,email,picture' } },
    profile: (profile) => ({
      id: profile.id,
      name: profile.name,
      email: profile.email,
      image: profile.picture?.data?.url,
    }),
    style: { brandColor: '#006aff', logo },
    options,
  }
}
export { facebook }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M9.101 23.691v-7.98H6.627v-3.667h2.474v-1.58c0-4.085 1.848-5.978 5.858-5.978.401 0 .955.042 1.468.103a8.68 8.68 0 0 1 1.141.195v3.325a8.623 8.623 0 0 0-.653-.036 26.805 26.805 0 0 0-.733-.009c-.707 0-1.259.096-1.675.309a1.686 1.686 0 0 0-.679.622c-.258.42-.374.995-.374 1.752v1.297h3.919l-.386 2.103-.287 1.564h-3.246v8.245C19.396 23.238 24 18.179 24 12.044c0-6.627-5.373-12-12-12s-12 5.373-12 12c0 5.628 3.874 10.35 9.101 11.647Z"/></svg>'
