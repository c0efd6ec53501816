/** The part of `@simplewebauthn/server` 14 that is used here, as structural types: nothing public may import an optional peer's types. */
import { AuthError, type Proof, type ProviderOf } from 'authkernel/kernel'

/** The four functions that are called. */
export interface WebAuthnLibrary {
  generateRegistrationOptions(options: Record<string, unknown>): Promise<{ challenge: string }>
  generateAuthenticationOptions(options: Record<string, unknown>): Promise<{ challenge: string }>
  verifyRegistrationResponse(
    options: Record<string, unknown>,
  ): Promise<{ verified: boolean; registrationInfo?: RegistrationInfo | undefined }>
  verifyAuthenticationResponse(options: Record<string, unknown>): Promise<{ verified: boolean; authenticationInfo: AuthenticationInfo }>
}
/** What an assertion proved. */
export interface AuthenticationInfo {
  newCounter: number
  /** The UV flag: the device checked a PIN, a finger or a face. */
  userVerified: boolean
  /** `singleDevice` or `multiDevice`: the BE flag. */
  credentialDeviceType?: string
}
/** What a registration proved. */
export interface RegistrationInfo {
  userVerified: boolean
  /** `id` in base64url. */
  credential: { id: string; publicKey: Uint8Array; counter: number }
  /** `singleDevice` or `multiDevice`: the BE flag. */
  credentialDeviceType: string
  /** The BS flag. */
  credentialBackedUp: boolean
  /** Which kind of authenticator it is; zeros where it does not say. */
  aaguid?: string
}

const functionNames = [
  'generateRegistrationOptions',
  'generateAuthenticationOptions',
  'verifyRegistrationResponse',
  'verifyAuthenticationResponse',
] as const

/** The provider's `lib`, or the installed package. Imported at first use: a host without passkeys need not have it. */
export async function loadWebAuthnLibrary(provider: ProviderOf<'webauthn'>): Promise<WebAuthnLibrary> {
  const library = await importLibrary(provider)
  const missing = functionNames.filter((name) => typeof library[name] !== 'function')
  // The functions are there, as tested above. `WebAuthnLibrary` has their unchecked inputs.
  if (missing.length === 0) return library as unknown as WebAuthnLibrary
  throw new AuthError(
    `The lib of provider "${provider.id}" lacks ${missing.join(', ')}: give () => import('@simplewebauthn/server'), version 14.`,
  )
}

async function importLibrary({ id, lib }: ProviderOf<'webauthn'>): Promise<Record<string, unknown>> {
  try {
    return (await (lib ? lib() : import('@simplewebauthn/server'))) as Record<string, unknown>
  } catch (error) {
    throw new AuthError(
      `Provider "${id}" needs @simplewebauthn/server 14: npm install @simplewebauthn/server. ` +
        `With a bundler that cannot find it, give the provider lib: () => import('@simplewebauthn/server').`,
      { cause: error },
    )
  }
}

/** `swk` for a passkey that may be copied to other devices, `hwk` for one that stays. With user verification it counts as two factors. */
export function proofOfPasskey(userVerified: boolean, deviceType: string): Proof {
  const key = deviceType === 'multiDevice' ? 'swk' : 'hwk'
  return userVerified === true ? { amr: [key, 'user', 'mfa'], factors: 2 } : { amr: [key, 'user'], factors: 1 }
}
