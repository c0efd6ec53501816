/** OpenID Connect sign-in: authorization code flow with a verified ID token (OpenID Connect Core 3.1, Discovery, RFC 9207, 9700). */
import type { Plugin } from 'authkernel/kernel'
import { type OIDCInput, pluginOf } from './plugin.ts'

export type { OIDCInput }

/** Registers the provider type `oidc` and the providers given: `oidcPlugin({ id: 'acme', issuer, clientId, clientSecret })`. */
export function oidcPlugin(...providers: (OIDCInput | (() => OIDCInput))[]): Plugin<void> {
  return pluginOf('oidc', providers)
}
