/** A second factor after every sign-in method: codes of an authenticator app, passkeys, backup codes, trusted browsers. */
import type { Plugin, User } from 'authkernel/kernel'
import { deviceCookie } from './devices.ts'
import { addEndings } from './endings.ts'
import { totp } from './factors.ts'
import { addMails } from './mails.ts'
import { pageMessages } from './messages.ts'
import { addClientMethods, createApi, type TwoFactorApi, type TwoFactorClient } from './methods.ts'
import { resolveOptions, type TwoFactorOptions } from './options.ts'
import { addPages } from './pages.ts'
import { factorChallenges } from './passkey.ts'
import { askForFactor } from './question.ts'
import { addRoutes } from './routes.ts'
import { backupCodeTable, deviceTable, factorTable, mailedCodeTable, stateTable } from './tables.ts'
import { factorTarget, listUnusedCodes, takeFactors } from './takeover.ts'

export type { TrustedDevices } from './devices.ts'
export { NoLoginWaits, ProofTooOld, TooManySecondFactors, WrongSecondFactor } from './errors.ts'
export { emailCode, type Factor, passkey, totp } from './factors.ts'
export type { FactorsOf, ListedFactor, TrustedBrowser, TwoFactorApi, TwoFactorClient, TwoFactorMethods } from './methods.ts'
export type { TwoFactorOptions } from './options.ts'
export type { BackupCodeRow, FactorRow, MailedCodeRow, StateRow, TrustedDeviceRow } from './tables.ts'
export type { TotpEnrolment } from './totp.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** `left` backup codes remain. */
    backupCodeUsed: { user: User; left: number }
    /** An administrator removed all factors of a user. */
    factorsReset: { user: User; admin: User; reason: string }
  }
}

/**
 * Asks for a second factor after every method, unless the sign-in itself proved two: a passkey with user verification, or a provider whose
 * word is trusted. Needs the service `records`, and sessions that can be ended from elsewhere: jwt with `session.revocable`, or the database strategy. Throws
 * AuthError for options of the wrong shape.
 */
export function twoFactorPlugin(options: TwoFactorOptions = {}): Plugin<TwoFactorApi & TwoFactorClient> {
  const resolved = resolveOptions(options, [totp()])
  const offers = (kind: string): boolean => resolved.factors.some((factor) => factor.kind === kind)
  return {
    name: 'two-factor',
    requires: [
      'records',
      'limit',
      'session:attributes',
      'session:revoke:user',
      ...(offers('emailCode') ? (['mailTransport'] as const) : []),
    ],
    setup(kernel) {
      kernel.declareEvent('backupCodeUsed', 'factorsReset')
      kernel.records('twoFactor', factorTable)
      kernel.records('twoFactorState', stateTable)
      kernel.records('twoFactorBackupCode', backupCodeTable)
      kernel.records('twoFactorDevice', deviceTable)
      kernel.records('twoFactorMailedCode', mailedCodeTable)
      kernel.cookie(deviceCookie)
      if (offers('passkey')) kernel.pending(factorChallenges)
      kernel.messages(pageMessages)
      addMails(kernel)
      kernel.provide('factorTakeover', { ...factorTarget, take: takeFactors, listUnused: listUnusedCodes })
      askForFactor(kernel, resolved)
      addRoutes(kernel, resolved)
      addPages(kernel, resolved)
      addEndings(kernel)
      return { twoFactor: createApi(kernel), ...addClientMethods(kernel, resolved) }
    },
  }
}
