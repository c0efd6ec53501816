/** The ceremony of a passkey for methods of plugins that bring its options, such as a second factor. It is loaded when it is used. */

/**
 * Asks for a passkey (WebAuthn Level 3, section 5.1.4). `options`: what the server made, as JSON. Returns what the server checks, as JSON. Rejects with the
 * browser's DOMException: NotAllowedError when cancelled.
 */
export async function askForPasskey(options: object, signal?: AbortSignal): Promise<string> {
  const { getPasskey } = await import('./passkey.ts')
  return JSON.stringify(await getPasskey(options as PublicKeyCredentialRequestOptionsJSON, signal))
}
