import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface UnitedEffectsProfile extends Profile {
  sub: string
  name?: string
  email?: string
}
/** What United Effects needs, and what may be changed. */
export type UnitedEffectsOptions = OIDCUserConfig<UnitedEffectsProfile> & {
  /** `https://auth.unitedeffects.com/<auth group id>` */
  issuer?: string | undefined
}

/**
 * Sign-in with United Effects. Register: a client, in the auth group.
 * @see https://docs.unitedeffects.com
 */
export default function unitedEffects(options: UnitedEffectsOptions): OIDCConfig<UnitedEffectsProfile> {
  return {
    id: 'united-effects',
    name: 'United Effects',
    type: 'oidc',
    authorization: { params: { scope: 'openid email profile', resource: '{issuer}' } },
    options,
  }
}
export { unitedEffects }
