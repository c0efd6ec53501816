/** Passwords: registration, sign-in, reset and change, with hashes of other products taken over. */
import { type AdapterUser, type Context, type Plugin, rememberMailbox } from 'authkernel/kernel'
import { passwordsApi, type PasswordsApi, takeHashes } from './api.ts'
import { addChange } from './change.ts'
import { passwordsFlow } from './flow.ts'
import { createHasher } from './hash.ts'
import { typingMessages } from './messages-typing.ts'
import { messages, withLength } from './messages.ts'
import { addMethods, type PasswordsClient } from './methods.ts'
import { type PasswordsOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'
import { dropParked } from './parked.ts'
import { browserCookie } from './pending.ts'
import { addReset } from './reset.ts'
import { addConfirm } from './sign-up.ts'
import { passwordTable, pendingTable, resetTable, rowId } from './tables.ts'

export type { PasswordsApi } from './api.ts'
export { PasswordRefused, type PasswordRefusal } from './errors.ts'
export type { PasswordsConfig } from './flow.ts'
export type { PasswordMethods, PasswordsClient } from './methods.ts'
export {
  type BcryptLibrary,
  bcryptHash,
  betterAuthHash,
  type FirebaseParameters,
  firebaseScrypt,
  type ForeignHash,
  pbkdf2Hash,
} from './foreign.ts'
export type { PasswordsOptions } from './options.ts'
export { type Breached, pwned, type PwnedOptions } from './pwned.ts'
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
      kernel.messages(withLength(messages, resolved.minLength))
      kernel.messages(typingMessages)
      for (const what of ['confirm', 'reset'] as const)
        kernel.mailTemplate(`passwords.${what}`, {
          subject: `passwords.mail.${what}`,
          lines: [`passwords.mail.${what}-text`],
          button: { text: 'passwords.mail.open', url: 'url' },
          after: ['passwords.mail.left'],
          note: 'passwords.mail.ignore',
        })
      kernel.mailTemplate('passwords.known', {
        subject: 'passwords.mail.known',
        lines: ['passwords.mail.known-text'],
        button: { text: 'passwords.mail.sign-in', url: 'url' },
        note: 'passwords.mail.ignore',
      })
      kernel.mailTemplate('passwords.was-reset', {
        subject: 'passwords.mail.changed',
        lines: ['passwords.mail.changed-text', 'passwords.mail.keys-reset'],
        note: 'passwords.mail.not-you',
      })
      for (const what of ['added', 'changed'] as const)
        kernel.mailTemplate(`passwords.${what}`, {
          subject: `passwords.mail.${what}`,
          lines: [`passwords.mail.${what}-text`, 'passwords.mail.keys'],
          note: 'passwords.mail.not-you',
        })
      kernel.provide('passwordTakeover', { take: (ctx, rows, { dry }) => takeHashes(ctx, parts, rows, dry) })
      addConfirm(kernel, parts)
      addReset(kernel, parts)
      addChange(kernel, parts)
      addPages(kernel, resolved)
      kernel.onAccessEnd('pending', async (ctx, { which }) => {
        if (!('userId' in which)) return 0
        return Number(await ctx.records('passwordReset').delete(await rowId(which.userId)))
      })
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
