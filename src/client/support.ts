/** Whether it is worth asking. Apart from the ceremonies, so that a page may ask without loading them. */

/** Returns whether the browser supports passkeys; with `autofill`, whether it offers them in the autofill of a field. */
export async function supportsPasskeys(autofill?: boolean): Promise<boolean> {
  if (typeof PublicKeyCredential !== 'function') return false
  return !autofill || Boolean(await PublicKeyCredential.isConditionalMediationAvailable?.())
}
