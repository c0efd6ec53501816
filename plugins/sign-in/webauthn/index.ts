/**
 * Passkeys and security keys (WebAuthn Level 3). The kernel finds and links users; this type makes the options of a ceremony, keeps its challenge
 * and verifies what the browser brings back, with `@simplewebauthn/server` 14, which is an optional peer.
 */
import {
  AccountNotLinked,
  AuthError,
  type Plugin,
  type ProviderFlow,
  type ProviderGiven,
  type ProviderOf,
  providerPlugin,
} from 'authkernel/kernel'
import { challenges, useChallenge } from './challenge.ts'
import { readAnswer } from './credential.ts'
import { authenticate } from './authenticate.ts'
import { hasPasskeys, revokeUnverified } from './revoke-unverified.ts'
import { loadLibrary } from './library.ts'
import { register } from './register.ts'
import { webauthnRoutes } from './routes.ts'
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
  async finish(ctx, provider) {
    const { action, data } = await ctx.body()
    const answer = readAnswer(data)
    // Before anything is looked at: whatever is wrong with the rest, this challenge is spent (D12).
    const pending = await useChallenge(ctx, provider, answer)
    // The redirect hook comes before all others.
    await ctx.callbackUrl()
    if (!answer) throw new AuthError(`The data posted to provider "${provider.id}" is not a credential as JSON.`)
    if (action === 'register') return register(ctx, provider, answer, pending)
    if (action === 'authenticate') return authenticate(ctx, provider, answer, pending)
    throw new AuthError(`The action posted to provider "${provider.id}" must be "register" or "authenticate".`)
  },
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
  setup: (kernel) => void kernel.pending(challenges),
})
