import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface WorkOSProfile {
  [field: string]: unknown
  id?: string
  email?: string
  first_name?: string | null
  last_name?: string | null
  connection_id?: string
  connection_type?: string
  organization_id?: string
  raw_attributes?: { picture?: string; [attribute: string]: unknown }
}
/** What WorkOS needs, and what may be changed. */
export interface WorkOSOptions extends OAuthUserConfig<WorkOSProfile> {
  /** Id of the connection that all users sign in with. */
  connection?: string | undefined
}

/**
 * Sign-in with WorkOS. Register: an environment with a redirect URI, at https://dashboard.workos.com.
 * - Without `connection` each sign-in names its `connection`, `organization` or `provider` as an authorization parameter.
 * @see https://workos.com/docs/sso
 */
export default function workos(options: WorkOSOptions = {}): OAuthConfig<WorkOSProfile> {
  const api = options.issuer?.replace(/(?<!\/)\/+$/, '') || 'https://api.workos.com'
  return {
    id: 'workos',
    name: 'WorkOS',
    type: 'oauth',
    authorization: { url: `${api}/sso/authorize`, params: { connection: options.connection ?? '' } },
    scope: '',
    token: { url: `${api}/sso/token`, defaults: { token_type: 'bearer' } },
    userinfo: `${api}/sso/profile`,
    client: { token_endpoint_auth_method: 'client_secret_post' },
    profile: (profile) => ({
      id: profile.id,
      name: [profile.first_name, profile.last_name].filter(Boolean).join(' ') || null,
      email: profile.email,
      image: profile.raw_attributes?.picture ?? null,
    }),
    style: { brandColor: '#6363f1' },
    options,
  }
}
export { workos }
