import type { OIDCConfig } from 'authkernel/kernel'
import microsoftEntraId, { type MicrosoftEntraIDOptions, type MicrosoftEntraIDProfile } from './microsoft-entra-id.ts'

/** Claims of the ID token. */
export type AzureADProfile = MicrosoftEntraIDProfile
/** What Azure Active Directory needs, and what may be changed. */
export type AzureADOptions = MicrosoftEntraIDOptions

/**
 * Sign-in with Azure Active Directory. Register: an app registration with the platform "Web", at https://entra.microsoft.com.
 * - With `common` and `organizations` users of every tenant may sign in: restrict them with `allowedTenants`.
 * - An ID token must come from the issuer of its tenant (claim `tid`). A tenant is named by its id, not by its domain.
 * - `email` is not verified by Microsoft: add the optional claim `xms_edov` before you link accounts by address.
 * - The photo is a second request, to Microsoft Graph, and is stored as a `data:` URL.
 * @deprecated use `microsoft-entra-id`; the id is part of the callback URL and of stored accounts
 * @see https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc
 */
export default function azureAd(options: AzureADOptions = {}): OIDCConfig<AzureADProfile> {
  return { ...microsoftEntraId(options), id: 'azure-ad', name: 'Azure Active Directory' }
}
export { azureAd }
