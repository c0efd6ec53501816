/** OAuth 2.0 sign-in: authorization code flow, profile from the userinfo endpoint (RFC 6749, 7636, 9207, 9700). */
import type { Plugin } from 'authkernel/kernel'
import { type OAuthInput, pluginOf } from './plugin.ts'

export type { OAuthInput }

/**
 * Registers the provider type `oauth` and the providers given: `oauthPlugin(github())`, or
 * `oauthPlugin({ id, clientId, clientSecret, authorization, token, userinfo, profile })`.
 */
export function oauthPlugin(...providers: (OAuthInput | (() => OAuthInput))[]): Plugin<void> {
  return pluginOf('oauth', providers)
}
