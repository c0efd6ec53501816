/** `client.passwords`, which pages of the host call instead of the built-in ones, with the same rules; and `auth.passwords` for server code. */
import {
  AccessDenied,
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  jobFor,
  type Kernel,
  type OfTenant,
  readFields,
} from 'authkernel/kernel'
import { changeForm, changePassword, currentUser } from './change.ts'
import { takeHashes } from './imported-passwords.ts'
import type { Parts } from './options.ts'
import { askForReset } from './reset.ts'
import { signUp, signUpForm } from './sign-up.ts'
import { passwordOf } from './tables.ts'

/**
 * `client.passwords`. A rejection rejects with AuthClientError, whose `error` says why: `PasswordTooShort`, `PasswordTooLong`, `PasswordUnusable`, `PasswordBreached`,
 * `PasswordAddress` for what is no address, `PasswordWrong` for the current one (400 each). `url` is the page that says what comes next.
 */
export interface PasswordMethods {
  /**
   * Mails a link that ends the registration in this browser, and then leads to `callbackUrl`. Every address gets the same answer. `name` and `image` (an
   * address) are those of the new user. Not there with `signUp: false`.
   */
  signUp(input: { email: string; password: string; name?: string; image?: string; callbackUrl?: string }): Promise<{ url: string }>
  /** Mails a link for a new password. The sign-in with it leads to `callbackUrl`. Every address gets the same answer. */
  requestReset(input: { email: string; callbackUrl?: string }): Promise<{ url: string }>
  /** The rule for a new password, before it is typed. */
  getRule(): Promise<{ minLength: number; maxLength: number }>
  /** Whether the user who is signed in has a password. Errors: `AccessDenied` (403) when signed out. */
  hasPassword(): Promise<boolean>
  /**
   * Changes the password and ends the other sessions. Without a former one (`current` absent) it is set when the last proof is younger than 5 minutes, else a
   * link is mailed. Errors: `AccessDenied` (403) when signed out.
   */
  change(input: { current?: string; password: string }): Promise<{ url: string }>
}
/** `client.passwords` on `auth`, for types alone. */
export type PasswordsClient = ClientPart<{ readonly passwords: PasswordMethods }>

/** What the plugin puts on `auth`. */
export interface PasswordsApi {
  passwords: {
    /**
     * Stores hashes of another product for users who are in the store; a user who has a password here keeps it. Answers how many were stored. A hash of a
     * user without `emailVerified` does not sign in before its owner has opened a magic link, and goes when the address is proved in another way.
     * Throws AuthError for a hash that none of `verify` knows. `tenant` names the tenant where there are several.
     */
    import(hashes: readonly { userId: string; hash: string }[], options?: OfTenant): Promise<number>
    /** Whether a user has a password. */
    has(user: { userId: string } & OfTenant): Promise<boolean>
  }
}

/** Adds the methods, and the forms of the pages that have their paths. */
export function addMethods(kernel: Kernel, parts: Parts): PasswordsClient {
  clientMethods(kernel, 'passwords', {
    ...(parts.options.signUp && {
      signUp: {
        ...clientMethod(
          readFields,
          async (ctx, sent) => (await ctx.callbackUrl(), signUp(ctx, parts, sent)),
          (ctx) => signUpForm(ctx, parts),
        ),
        takes: 'typed',
      },
    }),
    requestReset: {
      ...clientMethod(readFields, async (ctx, { email }) => (await ctx.callbackUrl(), askForReset(ctx, email))),
      takes: 'typed',
    },
    getRule: clientMethod(() => ({ minLength: parts.options.minLength, maxLength: 256 })),
    hasPassword: clientMethod(async (ctx) => (await passwordOf(ctx, (await requireUser(ctx)).id)) !== null),
    change: clientMethod(
      readFields,
      async (ctx, sent) => changePassword(ctx, parts, await requireUser(ctx), sent),
      (ctx) => changeForm(ctx, parts),
    ),
  })
  return {}
}

/** The API on `auth`. */
export function passwordsApi(kernel: Kernel, parts: Parts): PasswordsApi['passwords'] {
  return {
    async import(hashes, tenant) {
      const ctx = await kernel.contextOf(jobFor('passwords', tenant))
      return takeHashes(ctx, parts, hashes)
    },
    async has({ userId, ...tenant }) {
      const ctx = await kernel.contextOf(jobFor('passwords', tenant))
      return (await passwordOf(ctx, userId)) !== null
    },
  }
}

async function requireUser(ctx: Context) {
  const user = await currentUser(ctx)
  if (!user) throw new AccessDenied('passwords: no user is signed in.')
  return user
}
