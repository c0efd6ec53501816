/** OpenID Connect sign-in: authorization code flow with a verified ID token (OpenID Connect Core 3.1, Discovery, RFC 9207, 9700). */
import { type Plugin, type ProviderOptionsOf, providerPlugin } from 'authkernel/kernel'
import { oauthFlow, registerOAuth } from '../oauth/flow.ts'

/** Options of one OpenID Connect provider; `id` defaults to `oidc`, `name` to the id. */
export type OIDCInput = ProviderOptionsOf<'oidc'>

/** Registers the provider type `oidc` and the providers given: `oidcPlugin({ id: 'acme', issuer, clientId, clientSecret })`. */
export const oidcPlugin: (...providers: (OIDCInput | (() => OIDCInput))[]) => Plugin<void> = /* @__PURE__ */ providerPlugin({
  type: 'oidc',
  flow: oauthFlow,
  defaults: { id: 'oidc', name: 'OpenID Connect' },
  setup: registerOAuth,
})
