import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface OneLoginProfile extends Profile {
  sub: string
  name?: string
  email?: string
  preferred_username?: string
  groups?: string[]
}
/** What OneLogin needs, and what may be changed. */
export type OneLoginOptions = OIDCUserConfig<OneLoginProfile> & {
  /** `https://<sub-domain>.onelogin.com/oidc/2`, with or without the path */
  issuer?: string | undefined
}

/**
 * Sign-in with OneLogin. Register: an OpenID Connect app, in the admin portal.
 * @see https://developers.onelogin.com/openid-connect
 */
export default function onelogin(options: OneLoginOptions): OIDCConfig<OneLoginProfile> {
  const base = options.issuer?.replace(/(?:\/oidc\/2)?(?<!\/)\/*$/, '')
  return {
    id: 'onelogin',
    name: 'OneLogin',
    type: 'oidc',
    wellKnown: base && `${base}/oidc/2/.well-known/openid-configuration`,
    discoveryIssuer: base && [`${base}/oidc/2`, base],
    options,
  }
}
export { onelogin }
