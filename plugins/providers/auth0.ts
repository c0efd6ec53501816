import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface Auth0Profile extends Profile {
  sub: string
  name?: string
  nickname?: string
  email?: string
  email_verified?: boolean
  picture?: string
}
/** What Auth0 needs, and what may be changed. */
export type Auth0Options = OIDCUserConfig<Auth0Profile> &
  (
    | {
        /** `https://acme.eu.auth0.com`. */
        issuer?: string | undefined
        domain?: undefined
      }
    | {
        /** `acme.eu.auth0.com`, or a custom domain. */
        domain: string
        issuer?: undefined
      }
  )

/**
 * Sign-in with Auth0. Register: a regular web application, at https://manage.auth0.com.
 * @see https://auth0.com/docs/get-started/authentication-and-authorization-flow/authorization-code-flow
 */
export default function auth0(options: Auth0Options): OIDCConfig<Auth0Profile> {
  return {
    id: 'auth0',
    name: 'Auth0',
    type: 'oidc',
    issuer: options.domain ? `https://${options.domain}/` : undefined,
    style: { brandColor: '#eb5424', logo },
    options,
  }
}
export { auth0 }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M21.98 7.448L19.62 0H4.347L2.02 7.448c-1.352 4.312.03 9.206 3.815 12.015L12.007 24l6.157-4.552c3.755-2.81 5.182-7.688 3.815-12.015l-6.16 4.58 2.343 7.45-6.157-4.597-6.158 4.58 2.358-7.433-6.188-4.55 7.63-.045L12.008 0l2.356 7.404 7.615.044z"/></svg>'
