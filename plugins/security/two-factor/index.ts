/** A second factor after every way to sign in: codes of an authenticator app, passkeys, backup codes, trusted devices. */
import type { Plugin, User } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/admin'
import { askForFactor, deviceCookie } from './ask.ts'
import { resetFactors, createApi, type TwoFactorApi } from './api.ts'
import { NoLoginWaits, ProofTooOld, TooManySecondFactors, WrongSecondFactor } from './errors.ts'
import { totp } from './factors.ts'
import { mailMessages } from './messages-mail.ts'
import { pageMessages } from './messages.ts'
import { addClientMethods, type TwoFactorClient } from './methods.ts'
import { resolveOptions, type TwoFactorOptions } from './options.ts'
import { addPages } from './pages.ts'
import { factorChallenges } from './passkey.ts'
import { addPasskeyRoute } from './passkey-form.ts'
import { raiseGeneration } from './person.ts'
import { addSetupRoute } from './setup.ts'
import { takeFactors } from './takeover.ts'
import { backupCodeTable, deviceTable, factorTable, mailedCodeTable, stateTable } from './tables.ts'

export type { FactorsOf, ListedFactor, TwoFactorApi } from './api.ts'
export type { TrustedDevices } from './devices.ts'
export { emailCode, type Factor, passkey, totp } from './factors.ts'
export type { TwoFactorOptions } from './options.ts'
export type { BackupCodeRow, FactorRow, MailedCodeRow, StateRow, TrustedDeviceRow } from './tables.ts'
export type { TrustedBrowser, TwoFactorClient, TwoFactorMethods } from './methods.ts'
export type { TotpEnrolment } from './totp.ts'
export { NoLoginWaits, ProofTooOld, TooManySecondFactors, WrongSecondFactor }

declare module 'authkernel/kernel' {
  interface Events {
    /** `left` backup codes remain. */
    backupCodeUsed: { user: User; left: number }
    /** An administrator removed all factors of somebody. */
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
  const mails = resolved.factors.some(({ kind }) => kind === 'emailCode')
  return {
    name: 'two-factor',
    requires: ['records', 'limit', 'session:attributes', 'session:revoke:user', ...(mails ? (['mailTransport'] as const) : [])],
    setup(kernel) {
      kernel.declareEvent('backupCodeUsed', 'factorsReset')
      kernel.records('twoFactor', factorTable)
      kernel.records('twoFactorState', stateTable)
      kernel.records('twoFactorBackupCode', backupCodeTable)
      kernel.records('twoFactorDevice', deviceTable)
      kernel.records('twoFactorMailedCode', mailedCodeTable)
      kernel.cookie(deviceCookie)
      if (resolved.factors.some(({ kind }) => kind === 'passkey')) {
        kernel.pending(factorChallenges)
        addPasskeyRoute(kernel, resolved)
      }
      kernel.messages(pageMessages)
      kernel.messages(mailMessages)
      kernel.mailTemplate('two-factor.code', {
        subject: 'two-factor.mail.code',
        lines: ['two-factor.mail.code-lead'],
        code: 'code',
        after: ['two-factor.mail.left'],
        note: 'two-factor.mail.never-tell',
      })
      for (const what of ['added', 'changed', 'removed', 'few-codes', 'code-used'] as const)
        kernel.mailTemplate(`two-factor.${what}`, {
          subject: `two-factor.mail.${what}`,
          lines: [`two-factor.mail.${what}-text`],
          note: 'two-factor.mail.not-you',
        })
      kernel.provide('factorTakeover', { take: takeFactors })
      askForFactor(kernel, resolved)
      addSetupRoute(kernel, resolved)
      addPages(kernel, resolved)
      kernel.hook(
        'newFactor',
        async ({ user, admin, reason, ctx }): Promise<true> => {
          const { id: userId } = user
          await resetFactors(ctx, { key: `user:${userId}`, userId, user }, { admin, reason })
          return true
        },
        { of: 'admin' },
      )
      // A browser that was trusted under the old password or address is not under the new one.
      kernel.on('credentialChanged', async ({ user, kind, ctx }) => {
        if ((kind === 'password' || kind === 'address') && user?.id !== undefined)
          await raiseGeneration(ctx, { key: `user:${user.id}`, userId: user.id, user })
      })
      // Whoever signs out everywhere trusts no browser any more: one that was left behind would sign in without the factor.
      // What fails here fails the ending, so that it is repeated.
      kernel.onAccessEnd('pending', async (ctx, { which }) => {
        if (!('userId' in which)) return undefined
        const user = (await ctx.store?.getUser(which.userId)) ?? { id: which.userId }
        return raiseGeneration(ctx, { key: `user:${which.userId}`, userId: which.userId, user })
      })
      return { twoFactor: createApi(kernel), ...addClientMethods(kernel, resolved) }
    },
  }
}
