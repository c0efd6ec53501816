/** Names of options, and the provider that is there without any. `settings.ts` says what they mean. */
import type { ProviderOf } from 'authkernel/kernel'

type WebAuthn = ProviderOf<'webauthn'>

/** Names of all options. A record, so that the compiler finds what is missing. */
export const optionNames: Record<keyof WebAuthn, true> = {
  id: true,
  name: true,
  type: true,
  signinUrl: true,
  callbackUrl: true,
  relayingParty: true,
  getRelayingParty: true,
  enableConditionalUI: true,
  simpleWebAuthnBrowserVersion: true,
  lib: true,
  authenticators: true,
  formFields: true,
  authenticationOptions: true,
  registrationOptions: true,
  verifyAuthenticationOptions: true,
  verifyRegistrationOptions: true,
  getUserInfo: true,
  options: true,
}

/** What a provider without an `id` is: the passkey of `authkernel/providers/passkey`. */
export const passkey: { id: string; name: string } & Partial<WebAuthn> = {
  id: 'passkey',
  name: 'Passkey',
  authenticationOptions: { userVerification: 'required' },
  registrationOptions: { authenticatorSelection: { residentKey: 'required', userVerification: 'required' } },
  verifyAuthenticationOptions: { requireUserVerification: true },
  verifyRegistrationOptions: { requireUserVerification: true },
}
