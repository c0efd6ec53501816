import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface PipedriveProfile {
  [field: string]: unknown
  success?: boolean
  data?: {
    id?: number
    name?: string
    email?: string
    icon_url?: string | null
    activated?: boolean
    company_id?: number
    company_name?: string
  }
}

/**
 * Sign-in with Pipedrive. Register: an app, at https://developers.pipedrive.com.
 * - Scopes are chosen in the app's registration.
 * @see https://pipedrive.readme.io/docs/marketplace-oauth-authorization
 */
export default function pipedrive(options: OAuthUserConfig<PipedriveProfile> = {}): OAuthConfig<PipedriveProfile> {
  return {
    id: 'pipedrive',
    name: 'Pipedrive',
    type: 'oauth',
    authorization: 'https://oauth.pipedrive.com/oauth/authorize',
    scope: '',
    token: 'https://oauth.pipedrive.com/oauth/token',
    userinfo: 'https://api.pipedrive.com/users/me',
    profile: ({ data }) => ({
      id: String(data?.id),
      name: data?.name,
      email: data?.email,
      image: data?.icon_url,
    }),
    options,
  }
}
export { pipedrive }
