import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface FreshBooksProfile {
  [field: string]: unknown
  response?: { id?: number; first_name?: string; last_name?: string; email?: string }
}

/**
 * Sign-in with Freshbooks. Register: an app, at https://my.freshbooks.com/#/developer.
 * - Callback URLs must be https.
 * @see https://www.freshbooks.com/api/authentication
 */
export default function freshbooks(options: OAuthUserConfig<FreshBooksProfile> = {}): OAuthConfig<FreshBooksProfile> {
  return {
    id: 'freshbooks',
    name: 'Freshbooks',
    type: 'oauth',
    authorization: 'https://auth.freshbooks.com/service/auth/oauth/authorize',
    scope: '',
    token: 'https://api.freshbooks.com/auth/oauth/token',
    userinfo: 'https://api.freshbooks.com/auth/api/v1/users/me',
    profile: ({ response }) => ({
      id: String(response?.id),
      name: [response?.first_name, response?.last_name].filter(Boolean).join(' ') || null,
      email: response?.email,
      image: null,
    }),
    style: { brandColor: '#0075dd' },
    options,
  }
}
export { freshbooks }
