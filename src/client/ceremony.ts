/**
 * The two WebAuthn ceremonies of a browser, JSON in and JSON out (WebAuthn Level 3, sections 5.1.8 and 5.1.9).
 * Native helpers where they work; manually where a browser lacks them or a password manager replaced the credential.
 */

/** Registers a new passkey. Rejects as `navigator.credentials.create` does: NotAllowedError, InvalidStateError, AbortError, SecurityError. */
export async function createPasskey(
  options: PublicKeyCredentialCreationOptionsJSON,
  signal?: AbortSignal,
  conditional?: boolean,
): Promise<object> {
  const credential = await navigator.credentials.create({
    publicKey: creationOptions(options),
    ...(signal && { signal }),
    // Of the standard, and not yet in the types of TypeScript.
    ...(conditional && ({ mediation: 'conditional' } as object)),
  })
  return toJSON(credential as PublicKeyCredential)
}

/** Tells the password manager that the server does not know a passkey that it offered, so that it offers it no more. Browsers without this API are skipped. */
export async function signalUnknown(rpId: string, credentialId: string): Promise<void> {
  const { signalUnknownCredential } = PublicKeyCredential as { signalUnknownCredential?: (facts: object) => Promise<void> }
  await signalUnknownCredential?.call(PublicKeyCredential, { rpId, credentialId }).catch(() => {})
}

/** Signs in with a passkey; `conditional` waits in the autofill of a field. Rejects as `navigator.credentials.get` does. */
export async function getPasskey(
  options: PublicKeyCredentialRequestOptionsJSON,
  signal?: AbortSignal,
  conditional?: boolean,
): Promise<object> {
  const credential = await navigator.credentials.get({
    publicKey: requestOptions(options),
    ...(signal && { signal }),
    ...(conditional && { mediation: 'conditional' as const }),
  })
  return toJSON(credential as PublicKeyCredential)
}

/** Whether the browser makes a passkey without a question, after a password manager has filled in a password (WebAuthn Level 3, section 5.1.7). */
export async function makesPasskeysAlone(): Promise<boolean> {
  const { getClientCapabilities } = (globalThis.PublicKeyCredential ?? {}) as {
    getClientCapabilities?: () => Promise<Record<string, boolean>>
  }
  return (await getClientCapabilities?.call(PublicKeyCredential).catch(() => undefined))?.['conditionalCreate'] === true
}

function creationOptions(json: PublicKeyCredentialCreationOptionsJSON): PublicKeyCredentialCreationOptions {
  if (typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function') return PublicKeyCredential.parseCreationOptionsFromJSON(json)
  // JSON has texts where the platform types enums.
  const options: unknown = {
    ...json,
    challenge: toBytes(json.challenge),
    user: { ...json.user, id: toBytes(json.user.id) },
    excludeCredentials: toDescriptors(json.excludeCredentials),
  }
  return options as PublicKeyCredentialCreationOptions
}

function requestOptions(json: PublicKeyCredentialRequestOptionsJSON): PublicKeyCredentialRequestOptions {
  if (typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function') return PublicKeyCredential.parseRequestOptionsFromJSON(json)
  const options: unknown = {
    ...json,
    challenge: toBytes(json.challenge),
    allowCredentials: toDescriptors(json.allowCredentials),
  }
  return options as PublicKeyCredentialRequestOptions
}

function toDescriptors(list: PublicKeyCredentialDescriptorJSON[] | undefined): PublicKeyCredentialDescriptor[] {
  return (list ?? []).map((one) => ({ ...one, id: toBytes(one.id) }) as PublicKeyCredentialDescriptor)
}

function toJSON(credential: PublicKeyCredential): object {
  try {
    return credential.toJSON()
  } catch {
    return byHand(credential)
  }
}

function byHand(credential: PublicKeyCredential): object {
  const answer = credential.response as AuthenticatorAttestationResponse & AuthenticatorAssertionResponse
  const response: Record<string, unknown> = { clientDataJSON: toText(answer.clientDataJSON) }
  for (const field of ['attestationObject', 'authenticatorData', 'signature', 'userHandle'] as const) {
    if (answer[field]) response[field] = toText(answer[field])
  }
  if (typeof answer.getTransports === 'function') response['transports'] = answer.getTransports()
  return {
    id: credential.id,
    rawId: credential.id,
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
    ...(credential.authenticatorAttachment && { authenticatorAttachment: credential.authenticatorAttachment }),
    response,
  }
}

function toBytes(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64url.replace(/-/g, '+').replace(/_/g, '/')), (character) => character.charCodeAt(0))
}

function toText(buffer: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '')
}
