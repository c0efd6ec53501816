import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface HydraProfile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  picture?: string
}
/** What Hydra needs, and what may be changed. */
export type HydraOptions = OIDCUserConfig<HydraProfile> & {
  /** Public URL of the server */
  issuer?: string | undefined
}

/**
 * Sign-in with Hydra. Register: a client, with the Ory CLI or API.
 * - What claims come depends on your own login and consent application.
 * @see https://www.ory.sh/docs/hydra/
 */
export default function hydra(options: HydraOptions): OIDCConfig<HydraProfile> {
  return {
    id: 'hydra',
    name: 'Hydra',
    type: 'oidc',
    style: { brandColor: '#4f46e5', logo },
    options,
  }
}
export { hydra }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12m-6-.75V3l6-3 6 3v2.25l-6-3zm12 13.5V21l-6 3-6-3v-2.25l6 3z"/></svg>'
