/** `client.passwords`: what a page of the host's own calls in place of the built-in ones. The rules are those of the pages. */
import { AccessDenied, clientMethod, clientMethods, type ClientPart, type Context, type Kernel } from 'authkernel/kernel'
import { change, changeForm, currentUser } from './change.ts'
import type { Parts } from './parts.ts'
import { askForReset } from './reset.ts'
import { signUp, signUpForm } from './sign-up.ts'
import { passwordOf } from './tables.ts'

/**
 * `client.passwords`. A refusal rejects with AuthClientError, whose `error` says why: `PasswordTooShort`, `PasswordTooLong`, `PasswordUnusable`, `PasswordBreached`,
 * `PasswordAddress` for what is no address, `PasswordWrong` for the current one (400 each). `url` is the page that says what comes next.
 */
export interface PasswordMethods {
  /** Mails a link that ends the registration in this browser. Every address gets the same answer. Not there with `signUp: false`. */
  signUp(input: { email: string; password: string }): Promise<{ url: string }>
  /** Mails a link for a new password. Every address gets the same answer. */
  requestReset(input: { email: string }): Promise<{ url: string }>
  /** Whether the person who is signed in has a password. Errors: `AccessDenied` (403) for nobody. */
  hasPassword(): Promise<boolean>
  /**
   * Changes the password and ends the other sessions. Without a former one (`current` absent) it is set when the last proof is younger than 5 minutes, else a
   * link is mailed. Errors: `AccessDenied` (403) for nobody.
   */
  change(input: { current?: string; password: string }): Promise<{ url: string }>
}
/** `client.passwords` on `auth`, for types alone. */
export type PasswordsClient = ClientPart<{ readonly passwords: PasswordMethods }>

/** Adds the methods, and the forms of the pages that have their paths. */
export function addMethods(kernel: Kernel, parts: Parts): PasswordsClient {
  clientMethods(kernel, 'passwords', {
    ...(parts.options.signUp && {
      signUp: {
        ...clientMethod(
          fields,
          (ctx, sent) => signUp(ctx, parts, sent),
          (ctx) => signUpForm(ctx, parts),
        ),
        takes: 'typed',
      },
    }),
    requestReset: { ...clientMethod(fields, (ctx, { email }) => askForReset(ctx, email)), takes: 'typed' },
    hasPassword: clientMethod(async (ctx) => (await passwordOf(ctx, (await signedIn(ctx)).id)) !== null),
    change: clientMethod(
      fields,
      async (ctx, sent) => change(ctx, parts, await signedIn(ctx), sent),
      (ctx) => changeForm(ctx, parts),
    ),
  })
  return {}
}

async function signedIn(ctx: Context) {
  const user = await currentUser(ctx)
  if (!user) throw new AccessDenied('passwords: nobody is signed in.')
  return user
}

function fields(sent: unknown): Record<string, unknown> {
  if (typeof sent !== 'object' || sent === null) throw new TypeError('an object')
  return { ...sent }
}
