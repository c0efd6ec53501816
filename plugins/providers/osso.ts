import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface OssoProfile {
  [field: string]: unknown
  id?: string
  name?: string
  email?: string
  idp?: string
  requested?: Record<string, unknown>
}
/** What Osso needs, and what may be changed. */
export type OssoOptions = OAuthUserConfig<OssoProfile> & {
  /** URL of the server. */
  issuer?: string | undefined
}

/**
 * Sign-in with Osso. Register: an OAuth client, in your Osso server.
 * @deprecated the project is unmaintained; the successor for SAML is `boxyhq-saml`
 * @see https://github.com/enterprise-oss/osso
 */
export default function osso(options: OssoOptions): OAuthConfig<OssoProfile> {
  return {
    id: 'osso',
    name: 'Osso',
    type: 'oauth',
    authorization: '{issuer}/oauth/authorize',
    scope: '',
    token: '{issuer}/oauth/token',
    userinfo: '{issuer}/oauth/me',
    options,
  }
}
export { osso }
