/** Provider types and providers. Types only. */
import type { CredentialsConfig, EmailConfig, OAuthConfig, OIDCConfig, WebAuthnConfig } from './provider-options.ts'

/** Provider types and their options. Plugins add theirs by declaration merging. */
export interface ProviderTypes {
  // any: a profile's type belongs to one provider (GitHub's `id` is a number) and is unknown in a list of providers.
  oauth: OAuthConfig<any>
  oidc: OIDCConfig<any>
  email: EmailConfig
  credentials: CredentialsConfig
  webauthn: WebAuthnConfig
}
/** Name of a provider type (row 359). */
export type ProviderType = keyof ProviderTypes
/** Options of one provider type. */
export type ProviderOf<T extends ProviderType> = ProviderTypes[T] & { type: T }
/** A provider of any type. */
export type Provider = { [T in ProviderType]: ProviderOf<T> }[ProviderType]
