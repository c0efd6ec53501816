import type { ProviderOf, WebAuthnConfig } from 'authkernel/kernel'

/** Options that a host gives to `webauthn` and `passkey`. */
export type WebAuthnOptions = Partial<Omit<WebAuthnConfig, 'type' | 'options'>>

/** Security keys and passkeys: a resident key is preferred, so that keys with little memory can be used too (row 260). */
export default function webauthn(options: WebAuthnOptions = {}): ProviderOf<'webauthn'> {
  return { id: 'webauthn', name: 'WebAuthn', type: 'webauthn', options }
}
