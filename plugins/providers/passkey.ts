import type { ProviderOf, WebAuthnConfig } from 'authkernel/kernel'

/** Passkeys: the device keeps the key and verifies the user, so the key alone is two factors (rows 256, 260). */
export default function passkey(options: Partial<Omit<WebAuthnConfig, 'type' | 'options'>> = {}): ProviderOf<'webauthn'> {
  return {
    id: 'passkey',
    name: 'Passkey',
    type: 'webauthn',
    authenticationOptions: { userVerification: 'required' },
    registrationOptions: { authenticatorSelection: { residentKey: 'required', userVerification: 'required' } },
    verifyAuthenticationOptions: { requireUserVerification: true },
    verifyRegistrationOptions: { requireUserVerification: true },
    options,
  }
}
