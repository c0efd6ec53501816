import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface EntraExternalIDProfile extends Profile {
  sub: string
  name?: string
  email?: string
  preferred_username?: string
  oid?: string
  tid?: string
}
/** What Microsoft Entra External ID needs, and what may be changed. */
export type EntraExternalIDOptions = OIDCUserConfig<EntraExternalIDProfile> &
  (
    | {
        /** `https://<tenant id>.ciamlogin.com/<tenant id>/v2.0`: the issuer that the discovery document names. */
        issuer?: string | undefined
        tenantId?: undefined
      }
    | {
        /** Directory (tenant) id of the external tenant. */
        tenantId: string
        issuer?: undefined
      }
  )

/**
 * Sign-in with Microsoft Entra External ID. Register: an app registration in the external tenant, at https://entra.microsoft.com,
 * and a user flow.
 * - The successor of Azure AD B2C (`azure-ad-b2c`).
 * - The issuer carries the tenant id in the host name too, whatever the sub-domain of the tenant is.
 * @see https://learn.microsoft.com/entra/external-id/customers/
 */
export default function entraExternalId(options: EntraExternalIDOptions): OIDCConfig<EntraExternalIDProfile> {
  return {
    id: 'entra-external-id',
    name: 'Microsoft Entra External ID',
    type: 'oidc',
    issuer: options.tenantId ? `https://${options.tenantId}.ciamlogin.com/${options.tenantId}/v2.0` : undefined,
    authorization: { params: { scope: 'openid profile email' } },
    style: { brandColor: '#0072c6' },
    options,
  }
}
export { entraExternalId }
