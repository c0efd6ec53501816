/**
 * Passkeys and security keys (WebAuthn Level 3). The kernel finds and links users; this type makes the options of a ceremony, keeps its challenge
 * and verifies what the browser brings back, with `@simplewebauthn/server` 14, which is an optional peer.
 */
import {
  AccountNotLinked,
  lazily,
  type Plugin,
  type ProviderFlow,
  type ProviderGiven,
  type ProviderOf,
  providerPlugin,
} from 'authkernel/kernel'
import { options, passkey } from './defaults.ts'
import { handleTable, noteHandles } from './handles.ts'
import { challenges } from './pending.ts'
import { ceremonies, webauthnRoutes } from './routes.ts'

export type { PasskeyHandleRow } from './handles.ts'
export { webauthnRoutes } from './routes.ts'

// Loaded with the first provider of the type.
const configured = /* @__PURE__ */ lazily(() => import('./configured.ts'))

type Configured = typeof import('./configured.ts')
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
  validate: async (provider, all) => (await configured()).validateProvider(provider, all),
  check: async (provider) => (await configured()).loadLibrary(provider),
  // Providers are validated before anybody asks.
  form: (provider) => (configured() as Configured).formOf(provider),
  typed: async (...given) => (await configured()).hasPasskeys(...given),
  revokeUnverified: async (...given) => (await configured()).revokeUnverified(...given),
  onUnlinked: async (...given) => (await configured()).deletePasskey(...given),
  finish: async (ctx, provider) => (await ceremonies()).finish(ctx, provider),
}

/**
 * The provider type `webauthn` with its route `GET /webauthn-options/:provider`, and the given providers. Without providers it adds the one
 * of `authkernel/providers/passkey`, unless the host has another one of this type. Named `webauthn`, or `webauthn:<ids>` with providers.
 * A provider's `lib` replaces the import of `@simplewebauthn/server`.
 */
export const webauthnPlugin: (...providers: (WebAuthnGiven | (() => WebAuthnGiven))[]) => Plugin<void> = /* @__PURE__ */ providerPlugin({
  type: 'webauthn',
  flow,
  defaults: passkey,
  alone: true,
  routes: webauthnRoutes,
  setup(kernel) {
    kernel.pending(challenges)
    // An app of Auth.js with passkeys alone needs no further table in its database.
    kernel.records('passkeyHandle', handleTable, {
      optional: true,
      when: (requires, { needsTables }) => !needsTables || requires('records'),
    })
    kernel.decorate('records', (_inner, view) => noteHandles(view))
    kernel.preload(async () => ceremonies())
  },
})
