/**
 * The two WebAuthn ceremonies of a browser, JSON in and JSON out (WebAuthn Level 3, sections 5.1.8 and 5.1.9).
 * Native helpers where they work; by hand where a browser lacks them or a password manager replaced the credential.
 */

/** Registers a new passkey. Rejects as `navigator.credentials.create` does: NotAllowedError, InvalidStateError, AbortError, SecurityError. */
export async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON, signal?: AbortSignal): Promise<object> {
  const credential = await navigator.credentials.create({ publicKey: creationOptions(options), ...(signal && { signal }) })
  return toJSON(credential as PublicKeyCredential)
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

function creationOptions(json: PublicKeyCredentialCreationOptionsJSON): PublicKeyCredentialCreationOptions {
  if (typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function') return PublicKeyCredential.parseCreationOptionsFromJSON(json)
  return {
    ...json,
    challenge: toBytes(json.challenge),
    user: { ...json.user, id: toBytes(json.user.id) },
    excludeCredentials: toDescriptors(json.excludeCredentials),
  } as unknown as PublicKeyCredentialCreationOptions
}

function requestOptions(json: PublicKeyCredentialRequestOptionsJSON): PublicKeyCredentialRequestOptions {
  if (typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function') return PublicKeyCredential.parseRequestOptionsFromJSON(json)
  return {
    ...json,
    challenge: toBytes(json.challenge),
    allowCredentials: toDescriptors(json.allowCredentials),
  } as unknown as PublicKeyCredentialRequestOptions
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
