import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface PingIdProfile extends Profile {
  sub: string
  name?: string
  preferred_username?: string
  email?: string
  email_verified?: boolean
}
/** What Ping Identity needs, and what may be changed. */
export type PingIdOptions = OIDCUserConfig<PingIdProfile> & {
  /** `https://auth.pingone.<region>/<environment id>/as` */
  issuer?: string | undefined
}

/**
 * Sign-in with Ping Identity. Register: a web application, in the PingOne console.
 * @see https://docs.pingidentity.com/pingone/applications/
 */
export default function pingId(options: PingIdOptions): OIDCConfig<PingIdProfile> {
  return {
    id: 'ping-id',
    name: 'Ping Identity',
    type: 'oidc',
    options,
  }
}
export { pingId }
