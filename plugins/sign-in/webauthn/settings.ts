/** What a WebAuthn provider's options mean, with their defaults, and what is wrong with them. */
import { AuthError, type InputAttributes, type Provider, type ProviderForm, type ProviderOf } from 'authkernel/kernel'
import { DuplicateConditionalUI, MissingWebAuthnAutocomplete } from 'authkernel/errors'
import { browserScript } from './browser.generated.ts'

type WebAuthn = ProviderOf<'webauthn'>

type Verification = { userVerification: unknown; require: boolean }

const timeout = 5 * 60 * 1000
const defaultFields: Record<string, InputAttributes> = { email: { label: 'Email', required: true, autocomplete: 'username webauthn' } }

/** Options for `generateRegistrationOptions` that do not depend on the request. The library writes into `authenticatorSelection`: always a copy. */
export function registrationDefaults(provider: WebAuthn): Record<string, unknown> {
  const selection = { residentKey: 'preferred', ...(provider.registrationOptions?.['authenticatorSelection'] as object | undefined) }
  const { userVerification } = registrationVerification(provider)
  return { timeout, ...provider.registrationOptions, authenticatorSelection: { ...selection, userVerification } }
}

/** The same for `generateAuthenticationOptions`. */
export function authenticationDefaults(provider: WebAuthn): Record<string, unknown> {
  return { timeout, ...provider.authenticationOptions, userVerification: authenticationVerification(provider).userVerification }
}

/** Whether the user must be verified when registering: what is demanded afterwards is also asked for before. */
export function registrationVerification(provider: WebAuthn): Verification {
  const selection = provider.registrationOptions?.['authenticatorSelection'] as { userVerification?: unknown } | undefined
  return verificationOf(selection?.userVerification, provider.verifyRegistrationOptions)
}

/** The same when signing in. */
export function authenticationVerification(provider: WebAuthn): Verification {
  return verificationOf(provider.authenticationOptions?.['userVerification'], provider.verifyAuthenticationOptions)
}

/** Fields and script for the sign-in page. */
export function formOf(provider: WebAuthn): ProviderForm {
  const fields = Object.entries(fieldsOf(provider)).map(([name, attributes]) => [name, withoutAutofill(provider, attributes)] as const)
  return { post: 'callback', fields: Object.fromEntries(fields), script: browserScript }
}

/** Throws the configuration error of a provider (rows 257, 258). */
export function validateProvider(provider: WebAuthn, all: readonly Provider[]): void {
  const { id, simpleWebAuthnBrowserVersion: version } = provider
  if (typeof version === 'string' && !/^v\d+(?:\.\d+){0,2}$/.test(version)) {
    throw new AuthError(
      `simpleWebAuthnBrowserVersion of provider "${id}" is "${version}": write v1, v1.2, v1.2.3 or false. No script is loaded from outside.`,
    )
  }
  if (isConditional(provider)) {
    const others = all.filter((other) => other.type === 'webauthn' && isConditional(other)).map((other) => other.id)
    if (others.length > 1) {
      throw new DuplicateConditionalUI(
        `The providers ${others.join(' and ')} both want the autofill of one page: set enableConditionalUI: false on all but one.`,
      )
    }
    if (!Object.values(fieldsOf(provider)).some(offersAutofill)) {
      throw new MissingWebAuthnAutocomplete(
        `No field of provider "${id}" offers passkeys: give one of formFields autocomplete: 'username webauthn', or set enableConditionalUI: false.`,
      )
    }
  }
  for (const origin of [provider.relayingParty?.origin ?? []].flat()) {
    if (/^https?:/.test(origin) && (!URL.canParse(origin) || new URL(origin).origin !== origin)) {
      throw new AuthError(
        `relayingParty.origin of provider "${id}" is "${origin}", which no browser sends: write scheme://host[:port] and nothing after it.`,
      )
    }
  }
}

function verificationOf(asked: unknown, verify: Record<string, unknown> | undefined): Verification {
  const demanded = verify?.['requireUserVerification'] as boolean | undefined
  const userVerification = asked ?? (demanded === false ? 'preferred' : 'required')
  return { userVerification, require: demanded ?? userVerification === 'required' }
}

function fieldsOf(provider: WebAuthn): Record<string, InputAttributes> {
  return provider.formFields ?? defaultFields
}

function isConditional(provider: WebAuthn): boolean {
  return provider.enableConditionalUI !== false
}

function offersAutofill(attributes: InputAttributes): boolean {
  return String(attributes['autocomplete'] ?? '')
    .split(/\s+/)
    .includes('webauthn')
}

// The script starts autofill wherever a field offers it, so a provider without conditional UI must not offer it.
function withoutAutofill(provider: WebAuthn, attributes: InputAttributes): InputAttributes {
  if (isConditional(provider) || !offersAutofill(attributes)) return attributes
  return {
    ...attributes,
    autocomplete: String(attributes['autocomplete'])
      .replace(/\bwebauthn\b/, '')
      .trim(),
  }
}
