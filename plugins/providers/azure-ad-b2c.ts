import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface AzureADB2CProfile extends Profile {
  sub: string
  name?: string
  preferred_username?: string
  emails?: string[]
  oid?: string
  tfp?: string
}
/** What Azure AD B2C needs, and what may be changed. */
export type AzureADB2COptions = OIDCUserConfig<AzureADB2CProfile> & {
  /** `https://<tenant>.b2clogin.com/<tenant>.onmicrosoft.com/<userFlow>/v2.0` */
  issuer?: string | undefined
}

/**
 * Sign-in with Azure AD B2C. Register: a web app in the B2C tenant, at https://portal.azure.com.
 * - The address is the first of the claim `emails`; choose "Email Addresses" among the application claims of the user flow.
 * @deprecated closed to new customers since 2025-05-01; the successor is `entra-external-id`
 * @see https://learn.microsoft.com/azure/active-directory-b2c/
 */
export default function azureAdB2c(options: AzureADB2COptions): OIDCConfig<AzureADB2CProfile> {
  return {
    id: 'azure-ad-b2c',
    name: 'Azure AD B2C',
    type: 'oidc',
    profile: (profile) => ({
      id: profile.sub,
      name: profile.name ?? profile.preferred_username,
      email: profile.emails?.[0],
      image: null,
    }),
    style: { brandColor: '#0072c6' },
    options,
  }
}
export { azureAdB2c }
