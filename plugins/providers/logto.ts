import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface LogtoProfile extends Profile {
  sub: string
  name?: string
  username?: string
  email?: string
  email_verified?: boolean
  picture?: string
}
/** What Logto needs, and what may be changed. */
export type LogtoOptions = OIDCUserConfig<LogtoProfile> & {
  /** `https://<tenant>.logto.app/oidc` */
  issuer?: string | undefined
}

/**
 * Sign-in with Logto. Register: a traditional web application, in the Logto console.
 * @see https://docs.logto.io/quick-starts/traditional
 */
export default function logto(options: LogtoOptions): OIDCConfig<LogtoProfile> {
  return {
    id: 'logto',
    name: 'Logto',
    type: 'oidc',
    authorization: { params: { scope: 'offline_access openid email profile' } },
    profile: (profile) => ({
      id: profile.sub,
      name: profile.name ?? profile.username,
      email: profile.email,
      image: profile.picture,
    }),
    options,
  }
}
export { logto }
