/** Whether it is worth asking. Apart from the ceremonies, so that a page may ask without loading them. */

/** Whether this browser knows passkeys; with `autofill` also whether it offers them in the autofill of a field. */
export async function supportsPasskeys(autofill?: boolean): Promise<boolean> {
  if (typeof PublicKeyCredential !== 'function') return false
  return !autofill || Boolean(await PublicKeyCredential.isConditionalMediationAvailable?.())
}
