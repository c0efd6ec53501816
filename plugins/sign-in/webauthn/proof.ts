/** How strong a ceremony was, in methods of RFC 8176. */
import type { Proof } from 'authkernel/kernel'

/** `swk` for a passkey that may be copied to other devices, `hwk` for one that stays. With user verification it counts as two factors. */
export function proofOf(userVerified: boolean, deviceType: string): Proof {
  const key = deviceType === 'multiDevice' ? 'swk' : 'hwk'
  return userVerified === true ? { amr: [key, 'user', 'mfa'], factors: 2 } : { amr: [key, 'user'], factors: 1 }
}
