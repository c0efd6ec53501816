/**
 * Passkeys and security keys (WebAuthn Level 3). The kernel finds and links users; this type makes the options of a ceremony, keeps its challenge
 * and verifies what the browser brings back, with `@simplewebauthn/server` 14, which is an optional peer.
 */
import { lazily, type Plugin, type ProviderFlow, type ProviderOptionsOf, type ProviderOf, providerPlugin } from 'authkernel/kernel'
import { AccountNotLinked } from 'authkernel/errors'
import { methodRoutes, type PasskeysClient } from './methods.ts'
import { optionNames, passkey } from './options.ts'
import { addAccountSection } from './pages.ts'
import { challenges } from './pending.ts'
import { loadCeremonies, rootRoutes, webauthnRoutes } from './routes.ts'
import { handleTable, noteHandles } from './tables.ts'

export type { PasskeysClient } from './methods.ts'
export type { Passkey } from './passkeys.ts'
export type { PasskeyHandleRow } from './tables.ts'
export { webauthnRoutes } from './routes.ts'

// Loaded with the first provider of the type.
const loadProvider = /* @__PURE__ */ lazily(() => import('./provider.ts'))

type ProviderModule = typeof import('./provider.ts')
type WebAuthn = ProviderOf<'webauthn'>
type WebAuthnProviderOptions = ProviderOptionsOf<'webauthn'>

const webauthnFlow: ProviderFlow<WebAuthn> = {
  callback: { GET: false, POST: 'token' },
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
  options: optionNames,
  validate: async (provider, all) => (await loadProvider()).validateProvider(provider, all),
  check: async (provider) => (await loadProvider()).loadWebAuthnLibrary(provider),
  // Providers are validated before the first request.
  form: (provider) => (loadProvider() as ProviderModule).formOf(provider),
  typed: async (...given) => (await loadProvider()).hasPasskeys(...given),
  revokeUnverified: async (...given) => (await loadProvider()).revokeUnverified(...given),
  canSignIn: async (ctx, _provider, user, account) => (await loadProvider()).opensAccount(ctx, user, account),
  onUnlinked: async (...given) => (await loadProvider()).deletePasskey(...given),
  finish: async (ctx, provider) => (await loadCeremonies()).finishCeremony(ctx, provider),
}

/**
 * The provider type `webauthn` with its route `GET /webauthn-options/:provider`, the section of the account page, `client.passkeys`, and the given providers. Without providers it adds the one
 * of `authkernel/providers/passkey`, unless the host has another one of this type. Named `webauthn`, or `webauthn:<ids>` with providers.
 * A provider's `lib` replaces the import of `@simplewebauthn/server`.
 */
export const webauthnPlugin: (...providers: (WebAuthnProviderOptions | (() => WebAuthnProviderOptions))[]) => Plugin<PasskeysClient> =
  /* @__PURE__ */ providerPlugin({
    type: 'webauthn',
    flow: webauthnFlow,
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
      kernel.preload(async () => loadCeremonies())
      addAccountSection(kernel)
      for (const route of [...rootRoutes, ...methodRoutes]) kernel.route(route)
      return {}
    },
  })
