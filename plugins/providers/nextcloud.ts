import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface NextcloudProfile {
  [field: string]: unknown
  id?: string
  displayname?: string
  email?: string | null
  groups?: string[]
  language?: string
  quota?: { used?: number; total?: number; free?: number }
}
/** What Nextcloud needs, and what may be changed. */
export type NextcloudOptions = OAuthUserConfig<NextcloudProfile> & {
  /** URL of the server. */
  issuer?: string | undefined
}

/**
 * Sign-in with Nextcloud. Register: an OAuth 2.0 client, in the administration settings (Security).
 * @see https://docs.nextcloud.com/server/latest/admin_manual/configuration_server/oauth2.html
 */
export default function nextcloud(options: NextcloudOptions): OAuthConfig<NextcloudProfile> {
  const site = options.issuer?.replace(/(?<!\/)\/+$/, '')
  return {
    id: 'nextcloud',
    name: 'Nextcloud',
    type: 'oauth',
    authorization: '{issuer}/apps/oauth2/authorize',
    scope: '',
    token: '{issuer}/apps/oauth2/api/v1/token',
    userinfo: {
      url: '{issuer}/ocs/v1.php/cloud/users',
      path: '{tokens.user_id}',
      headers: { 'OCS-APIRequest': 'true', Accept: 'application/json' },
      unwrap: 'ocs.data',
    },
    profile: (profile) => ({
      id: profile.id,
      name: profile.displayname,
      email: profile.email,
      image: site && profile.id ? `${site}/avatar/${encodeURIComponent(profile.id)}/512` : null,
    }),
    style: { brandColor: '#0082c9', logo },
    options,
  }
}
export { nextcloud }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M12.018 6.537c-2.5 0-4.6 1.712-5.241 4.015-.56-1.232-1.793-2.105-3.225-2.105A3.569 3.569 0 0 0 0 12a3.569 3.569 0 0 0 3.552 3.553c1.432 0 2.664-.874 3.224-2.106.641 2.304 2.742 4.016 5.242 4.016 2.487 0 4.576-1.693 5.231-3.977.569 1.21 1.783 2.067 3.198 2.067A3.568 3.568 0 0 0 24 12a3.569 3.569 0 0 0-3.553-3.553c-1.416 0-2.63.858-3.199 2.067-.654-2.284-2.743-3.978-5.23-3.977zm0 2.085c1.878 0 3.378 1.5 3.378 3.378 0 1.878-1.5 3.378-3.378 3.378A3.362 3.362 0 0 1 8.641 12c0-1.878 1.5-3.378 3.377-3.378zm-8.466 1.91c.822 0 1.467.645 1.467 1.468s-.644 1.467-1.467 1.468A1.452 1.452 0 0 1 2.085 12c0-.823.644-1.467 1.467-1.467zm16.895 0c.823 0 1.468.645 1.468 1.468s-.645 1.468-1.468 1.468A1.452 1.452 0 0 1 18.98 12c0-.823.644-1.467 1.467-1.467z"/></svg>'
