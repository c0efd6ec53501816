/**
 * Passkeys and security keys (WebAuthn Level 3). The kernel finds and links users; this type makes the options of a ceremony, keeps its challenge
 * and verifies what the browser brings back, with `@simplewebauthn/server` 14, which is an optional peer.
 */
import { AccountNotLinked, type Plugin, type ProviderFlow, type ProviderGiven, type ProviderOf, providerPlugin } from 'authkernel/kernel'
import { challenges } from './challenge.ts'
import { hasPasskeys, revokeUnverified } from './revoke-unverified.ts'
import { loadLibrary } from './library.ts'
import { ceremonies, webauthnRoutes } from './routes.ts'
import { formOf, options, passkey, validateProvider } from './settings.ts'

export { webauthnRoutes } from './routes.ts'

type WebAuthn = ProviderOf<'webauthn'>
type WebAuthnGiven = ProviderGiven<'webauthn'>

const flow: ProviderFlow<WebAuthn> = {
  callback: { GET: false, POST: 'csrf' },
  requires: ['store'],
  methods: [
    'createUser',
    'getUser',
    'linkAccount',
    'getAccount',
    'getAuthenticator',
    'createAuthenticator',
    'listAuthenticatorsByUserId',
    'updateAuthenticatorCounter',
  ],
  notLinked: (message) => new AccountNotLinked(message),
  options,
  validate: validateProvider,
  check: loadLibrary,
  form: formOf,
  typed: hasPasskeys,
  revokeUnverified,
  finish: async (ctx, provider) => (await ceremonies()).finish(ctx, provider),
}

/**
 * The provider type `webauthn` with its route `GET /webauthn-options/:provider`, and the given providers. Without providers it adds the one
 * of `authkernel/providers/passkey`, unless the host has another one of this type. Named `webauthn`, or `webauthn:<ids>` with providers.
 * A provider's `lib` replaces the import of `@simplewebauthn/server`.
 */
export const webauthnPlugin: (...providers: (WebAuthnGiven | (() => WebAuthnGiven))[]) => Plugin<void> = providerPlugin({
  type: 'webauthn',
  flow,
  defaults: passkey,
  alone: true,
  routes: webauthnRoutes,
  setup(kernel) {
    kernel.pending(challenges)
    kernel.preload(async () => ceremonies())
  },
})
