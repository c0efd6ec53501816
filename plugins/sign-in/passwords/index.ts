/** Passwords: registration, sign-in, reset and change, with hashes of other products taken over. */
import { type AdapterUser, type Context, type Plugin } from 'authkernel/kernel'
import { rememberMailbox } from 'authkernel/kernel/mail'
import type {} from 'authkernel/plugins/admin'
import { replaceShortPasswords } from './change.ts'
import { passwordsFlow } from './flow.ts'
import { createHasher } from './hash.ts'
import { dropParked, passwordTarget, takeHashes } from './imported-passwords.ts'
import { sentMailCookie } from './sent-mail.ts'
import { addMailTemplates } from './mails.ts'
import { messages, typingMessages, withLength } from './messages.ts'
import { addMethods, passwordsApi, type PasswordsApi, type PasswordsClient } from './methods.ts'
import { type PasswordsOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'
import { browserCookie } from './pending.ts'
import { mailReset } from './reset.ts'
import { addRoutes } from './routes.ts'
import { passwordTable, pendingTable, resetTable, rowId } from './tables.ts'

export { PasswordRefused, type PasswordRefusal } from './errors.ts'
export type { PasswordsConfig } from './flow.ts'
export type { PasswordMethods, PasswordsApi, PasswordsClient } from './methods.ts'
export {
  type BcryptLibrary,
  bcryptHash,
  betterAuthHash,
  type FirebaseParameters,
  firebaseScrypt,
  type ForeignHash,
  luciaHash,
  pbkdf2Hash,
} from './foreign.ts'
export type { LegacyAnswer, LegacyPasswords, LegacyQuestion } from './legacy.ts'
export type { SharedPasswords } from './shared-passwords.ts'
export type { PasswordsOptions } from './options.ts'
export { type BreachCheck, pwned, type PwnedOptions } from './known-passwords.ts'
export type { PasswordRow, PendingRow, ResetRow } from './tables.ts'

/**
 * Sign-in with an address and a password that this server keeps. Needs an adapter, the service `records`, and something that carries mails.
 * Throws AuthError for options of the wrong shape.
 */
export function passwordsPlugin(options: PasswordsOptions = {}): Plugin<PasswordsApi & PasswordsClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'passwords',
    requires: ['store', 'store:getUserByEmail', 'records', 'limit', 'mail', 'mailTransport', 'session:attributes', 'session:revoke:user'],
    setup(kernel) {
      const parts = {
        options: resolved,
        hasher: createHasher(kernel.runtime, {
          foreign: resolved.verify,
          algorithm: resolved.algorithm,
          deadline: kernel.config.deadlines.request,
        }),
      }
      kernel.providerType('passwords', passwordsFlow(kernel, parts))
      kernel.provider({ id: 'passwords', name: 'Password', type: 'passwords' })
      kernel.records('password', passwordTable)
      kernel.records('passwordPending', pendingTable)
      kernel.records('passwordReset', resetTable)
      kernel.cookie(browserCookie)
      kernel.cookie(sentMailCookie)
      kernel.messages(withLength(messages, resolved.minLength))
      kernel.messages(typingMessages)
      addMailTemplates(kernel)
      kernel.provide('passwordTakeover', { ...passwordTarget(parts), take: (ctx, rows, { dry }) => takeHashes(ctx, parts, rows, dry) })
      addRoutes(kernel, parts)
      addPages(kernel, resolved)
      replaceShortPasswords(kernel, parts)
      kernel.onAccessEnd('pending', async (ctx, { which }) => {
        if (!('userId' in which)) return 0
        return Number(await ctx.records('passwordReset').delete(await rowId(which.userId)))
      })
      kernel.hook(
        'resetPassword',
        async ({ user, ctx }) => {
          await mailReset(ctx, user.email.toLowerCase())
          return true as const
        },
        { of: 'admin' },
      )
      // A link in the former mailbox sets no password of an account that left it.
      kernel.on('credentialChanged', async ({ user, kind, ctx }) => {
        if (kind === 'address' && user?.id !== undefined) await ctx.records('passwordReset').delete(await rowId(user.id))
      })
      // A browser in which the owner of a proved address has signed in has a share of its own of the mails to it.
      kernel.on('signedIn', async ({ login: { user, purpose, account }, ctx }) => {
        const { email, emailVerified } = user as { email?: string | null; emailVerified?: Date | null }
        if (purpose === 'signIn' && account.provider === 'passwords' && email && emailVerified) await rememberMailbox(ctx as Context, email)
      })
      kernel.on('updateUser', async ({ user, ctx }) => {
        if (user.id !== undefined && (user as Partial<AdapterUser>).emailVerified) await dropParked(ctx, user.id)
      })
      return { passwords: passwordsApi(kernel, parts), ...addMethods(kernel, parts) }
    },
  }
}
