/** What a key is for: its purpose and the tenant, so that nothing of one tenant opens at another, whatever secrets they share. */
import type { Settings } from '../contract/settings.ts'

/** HKDF info of a purpose under the settings of a request. The default namespace changes nothing: what was made before stays readable. */
export function keyInfoOf({ keyInfo, namespace }: Settings, purpose: string): string {
  const info = keyInfo(purpose)
  return namespace === '' ? info : `${info} namespace ${namespace}`
}

/** HKDF info of this library's keys (D2). */
export function defaultKeyInfo(salt: string): string {
  return `authkernel derived key (${salt})`
}
