import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface BeyondIdentityProfile extends Profile {
  sub: string
  name?: string
  preferred_username?: string
  email?: string
}
/** What Beyond Identity needs, and what may be changed. */
export type BeyondIdentityOptions = OIDCUserConfig<BeyondIdentityProfile> & {
  /** `https://auth-<region>.beyondidentity.com/v1/tenants/<tenant>/realms/<realm>/applications/<application>` */
  issuer?: string | undefined
}

/**
 * Sign-in with Beyond Identity. Register: an application, in the admin console.
 * @see https://docs.beyondidentity.com
 */
export default function beyondidentity(options: BeyondIdentityOptions): OIDCConfig<BeyondIdentityProfile> {
  return {
    id: 'beyondidentity',
    name: 'Beyond Identity',
    type: 'oidc',
    profile: (profile) => ({
      id: profile.sub,
      name: profile.name,
      email: profile.email,
      image: null,
      preferred_username: profile.preferred_username,
    }),
    style: { brandColor: '#5077c5' },
    options,
  }
}
export { beyondidentity }
