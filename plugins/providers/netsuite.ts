import type { OAuthConfig, OAuthUserConfig, UserinfoEndpoint } from 'authkernel/kernel'

/** What your RESTlet answers. */
export interface NetSuiteProfile {
  [field: string]: unknown
  id?: number
  name?: string
  email?: string
  location?: number
  role?: number
  roleId?: string
  roleCenter?: string
  contact?: number
  subsidiary?: number
}
/** What NetSuite needs, and what may be changed. */
export type NetSuiteOptions = OAuthUserConfig<NetSuiteProfile> & {
  /** Account id: `1234567`, `1234567_SB1`. It is part of the host names. */
  accountID: string
  /** URL of your RESTlet or Suitelet that returns the current user as JSON. */
  userinfo: string | UserinfoEndpoint<NetSuiteProfile>
  prompt?: 'none' | 'login' | 'consent' | undefined
}

/**
 * Sign-in with NetSuite. Register: an integration record with OAuth 2.0, in your account.
 * - NetSuite has no userinfo endpoint: write a RESTlet that returns `{ id, name, email }` from `runtime.getCurrentUser()`.
 * - No PKCE.
 * @see https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_158074210415.html
 */
export default function netsuite(options: NetSuiteOptions): OAuthConfig<NetSuiteProfile> {
  if (!options.accountID) throw new Error('Provider "netsuite" needs the option accountID: it is part of the host names of an account')
  // Host names cannot hold the underscore of a sandbox id.
  const account = options.accountID.toLowerCase().replaceAll('_', '-')
  return {
    id: 'netsuite',
    name: 'NetSuite',
    type: 'oauth',
    authorization: {
      url: `https://${account}.app.netsuite.com/app/login/oauth2/authorize.nl`,
      params: { scope: 'restlets rest_webservices', ...(options.prompt && { prompt: options.prompt }) },
    },
    token: `https://${account}.suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token`,
    checks: ['state'],
    profile: (profile) => ({
      id: String(profile.id),
      name: profile.name,
      email: profile.email,
      image: null,
    }),
    style: { brandColor: '#181a1b' },
    options,
  }
}
export { netsuite }
