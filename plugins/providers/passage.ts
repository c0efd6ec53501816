import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface PassageProfile extends Profile {
  sub: string
  email?: string
  email_verified?: boolean
  phone_number?: string
}
/** What Passage needs, and what may be changed. */
export type PassageOptions = OIDCUserConfig<PassageProfile> & {
  /** `https://auth.passage.id/v1/apps/<app id>` */
  issuer?: string | undefined
}

/**
 * Sign-in with Passage. Register: an app, in the Passage console.
 * - No name and no picture.
 * @deprecated shut down on 2026-01-16; passkeys are built in: use `webauthn` or `passkey`
 * @see https://docs.passage.id
 */
export default function passage(options: PassageOptions): OIDCConfig<PassageProfile> {
  return {
    id: 'passage',
    name: 'Passage',
    type: 'oidc',
    client: { token_endpoint_auth_method: 'client_secret_basic' },
    style: { brandColor: '#3d53f6' },
    options,
  }
}
export { passage }
