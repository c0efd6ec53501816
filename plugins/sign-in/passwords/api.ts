/** `auth.passwords`: for server code and for taking over tables. */
import { type AnyContext, AuthError, jobFor, type Kernel, type OfTenant } from 'authkernel/kernel'
import type { Parts } from './parts.ts'
import { passwordOf, rowId } from './tables.ts'

/** What the plugin puts on `auth`. */
export interface PasswordsApi {
  passwords: {
    /**
     * Stores hashes of another product for users who are in the store; whoever has a password here keeps it. Answers how many were stored. A hash of a
     * user without `emailVerified` signs in nobody before its owner has opened a mailed link, and goes when the address is proved in another way.
     * Throws AuthError for a hash that none of `verify` knows. `tenant` names the tenant where there are several.
     */
    import(hashes: readonly { userId: string; hash: string }[], options?: OfTenant): Promise<number>
    /** Whether a user has a password. */
    has(user: { userId: string } & OfTenant): Promise<boolean>
  }
}

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

// Whoever registered with somebody else's address has set the password of that user.
async function isUnproved(ctx: AnyContext, userId: string): Promise<boolean> {
  const user = await ctx.service('store').getUser(userId)
  return !user || (Boolean(user.email) && !user.emailVerified)
}

/** Stores hashes for whoever has no password here; `dry` only counts. */
export async function takeHashes(
  ctx: AnyContext,
  { options }: Parts,
  hashes: readonly { userId: string; hash: string }[],
  dry = false,
): Promise<number> {
  const bad = hashes.findIndex(
    ({ hash }) => hash.length > 512 || !(/^\$(?:argon2id|scrypt)\$/.test(hash) || options.verify.some((one) => one.owns(hash))),
  )
  if (bad !== -1) throw new AuthError(`passwords.import: the hash of entry ${bad} is of no format in \`verify\`.`)
  let stored = 0
  for (const { userId, hash } of hashes) {
    if (await passwordOf(ctx, userId)) continue
    if (!dry)
      await ctx
        .records('password')
        .put({ id: await rowId(userId), userId, hash, short: false, parked: await isUnproved(ctx, userId), changed: ctx.now })
    stored++
  }
  return stored
}
