import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface AsgardeoProfile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  picture?: string
}
/** What Asgardeo needs, and what may be changed. */
export type AsgardeoOptions = OIDCUserConfig<AsgardeoProfile> & {
  /** `https://api.asgardeo.io/t/<organisation>`, with or without `/oauth2/token` */
  issuer?: string | undefined
}

/**
 * Sign-in with Asgardeo. Register: a traditional web application, at https://console.asgardeo.io.
 * @see https://wso2.com/asgardeo/docs/guides/authentication/oidc/
 */
export default function asgardeo(options: AsgardeoOptions): OIDCConfig<AsgardeoProfile> {
  const base = options.issuer?.replace(/(?:\/oauth2\/token)?(?<!\/)\/*$/, '')
  return {
    id: 'asgardeo',
    name: 'Asgardeo',
    type: 'oidc',
    wellKnown: base && `${base}/oauth2/token/.well-known/openid-configuration`,
    discoveryIssuer: base && [`${base}/oauth2/token`, base],
    style: { brandColor: '#000000' },
    options,
  }
}
export { asgardeo }
