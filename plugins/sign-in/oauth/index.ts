/** OAuth 2.0 sign-in: authorization code flow, profile from the userinfo endpoint (RFC 6749, 7636, 9207, 9700). */
import { type Plugin, type ProviderOptionsOf, providerPlugin } from 'authkernel/kernel'
import { oauthFlow, registerOAuth } from './flow.ts'

/** Options of one OAuth 2.0 provider; `id` defaults to `oauth`, `name` to the id. */
export type OAuthInput = ProviderOptionsOf<'oauth'>

/**
 * Registers the provider type `oauth` and the providers given: `oauthPlugin(github())`, or
 * `oauthPlugin({ id, clientId, clientSecret, authorization, token, userinfo, profile })`.
 */
export const oauthPlugin: (...providers: (OAuthInput | (() => OAuthInput))[]) => Plugin<void> = /* @__PURE__ */ providerPlugin({
  type: 'oauth',
  // The flow takes providers of either type.
  flow: oauthFlow,
  defaults: { id: 'oauth', name: 'OAuth' },
  setup: registerOAuth,
})
