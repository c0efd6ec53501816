/** Which factors a user has, and which of them count for a sign-in. */
import type { AnyContext, Context, Login, Row } from 'authkernel/kernel'
import { takeBackupCode } from './backup-codes.ts'
import { hasAddress, takeMailedCode } from './mailed-code.ts'
import { enrolledFactors, isUsable, type Person } from './person.ts'
import type { FactorRow } from './tables.ts'
import { acceptTotp } from './totp.ts'

/** A kind of second factor: `totp()`, `passkey()`, `emailCode()`. */
export interface Factor {
  readonly kind: 'totp' | 'passkey' | 'emailCode'
}
/** What a right code proves. */
export interface FactorProof {
  amr: readonly string[]
  factors: 1 | 2
  /** A backup code: how many are left. */
  left?: number
}

/** Codes of an authenticator app. Needs the package `otpauth`; `uqr` draws the QR code. */
export function totp(): Factor {
  return { kind: 'totp' }
}

/** Passkeys and security keys, of which a user may have ten. Needs the package `@simplewebauthn/server`, and JavaScript in the browser. */
export function passkey(): Factor {
  return { kind: 'passkey' }
}

/**
 * Six digits by mail. A weak second step: every reader of the mailbox has it, so it does not raise a sign-in to two factors. It is not asked after a sign-in by mail. NIST SP 800-63B-4 section 3.1.3 accepts no mail as an out-of-band factor.
 */
export function emailCode(): Factor {
  return { kind: 'emailCode' }
}

/** Factors that count. */
export async function confirmedFactors(ctx: AnyContext, person: Person): Promise<Row<FactorRow>[]> {
  return (await enrolledFactors(ctx, person)).filter(isUsable)
}

/** Kinds of factors that the user has and the site still offers. */
export async function usableKinds(ctx: AnyContext, person: Person, offered: readonly Factor[]): Promise<Factor['kind'][]> {
  const rows = await confirmedFactors(ctx, person)
  return offered.filter(({ kind }) => rows.some((row) => row.kind === kind)).map(({ kind }) => kind)
}

/** What a sign-in may be asked for. Empty: nothing that is independent of the first factor. */
export async function kindsToAsk(
  ctx: AnyContext,
  person: Person,
  { proof, purpose }: Login,
  offered: readonly Factor[],
): Promise<Factor['kind'][]> {
  const kinds = await usableKinds(ctx, person, offered)
  const { amr } = proof
  // The same channel twice is one factor: the same mailbox, or a key after a key. A code by mail is no fresh proof of a second factor.
  return kinds.filter((kind) => {
    if (kind === 'passkey') return !amr.includes('hwk') && !amr.includes('swk')
    return kind !== 'emailCode' || (purpose === 'signIn' && hasAddress(person) && !amr.includes('email'))
  })
}

/** Whether backup codes count: they stand in for an app or a key that the user has. */
export async function hasBackup(ctx: AnyContext, person: Person, offered: readonly Factor[]): Promise<boolean> {
  return hasStrong(await usableKinds(ctx, person, offered))
}

/** Whether one of them proves two factors. */
export function hasStrong(kinds: readonly string[]): boolean {
  return kinds.includes('totp') || kinds.includes('passkey')
}

/** Tries a code against every factor that may be asked. `mailId` names the code that was mailed for this login; `backup`: backup codes count. */
export async function acceptCode(
  ctx: Context,
  person: Person,
  { kinds, backup }: { kinds: readonly Factor['kind'][]; backup: boolean },
  code: string,
  mailId: string,
): Promise<FactorProof | undefined> {
  if (kinds.includes('totp')) {
    for (const row of await confirmedFactors(ctx, person))
      if (row.kind === 'totp' && (await acceptTotp(ctx, row, code))) return { amr: ['otp', 'mfa'], factors: 2 }
  }
  if (backup) {
    const left = await takeBackupCode(ctx, person, code)
    // A private name beside those of RFC 8176: a host may ask a user who came in by a code from a drawer to set up a factor.
    if (left !== undefined) return { amr: ['otp', 'mfa', 'backup'], factors: 2, left }
  }
  if (kinds.includes('emailCode') && (await takeMailedCode(ctx, person, mailId, code))) return { amr: ['email'], factors: 1 }
  return undefined
}
