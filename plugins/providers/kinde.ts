import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface KindeProfile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  picture?: string
}
/** What Kinde needs, and what may be changed. */
export type KindeOptions = OIDCUserConfig<KindeProfile> & {
  /** `https://<sub-domain>.kinde.com` */
  issuer?: string | undefined
}

/**
 * Sign-in with Kinde. Register: a back-end web application, at https://app.kinde.com.
 * @see https://docs.kinde.com/developer-tools/about/using-kinde-without-an-sdk/
 */
export default function kinde(options: KindeOptions): OIDCConfig<KindeProfile> {
  return {
    id: 'kinde',
    name: 'Kinde',
    type: 'oidc',
    checks: ['state', 'pkce'],
    options,
  }
}
export { kinde }
