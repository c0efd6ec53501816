/** `auth.passwords`: for server code and for taking over tables. */
import { type AnyContext, AuthError, type Kernel } from 'authkernel/kernel'
import type { Parts } from './parts.ts'
import { passwordOf, rowId } from './tables.ts'

/** What the plugin puts on `auth`. */
export interface PasswordsApi {
  passwords: {
    /**
     * Stores hashes of another product for users who are in the store; whoever has a password here keeps it. Answers how many were stored.
     * Throws AuthError for a hash that none of `verify` knows. `of` names the tenant where there are several.
     */
    import(hashes: readonly { userId: string; hash: string }[], options?: { of?: string | null }): Promise<number>
    /** Whether a user has a password. */
    has(user: { userId: string; of?: string | null }): Promise<boolean>
  }
}

export function passwordsApi(kernel: Kernel, parts: Parts): PasswordsApi['passwords'] {
  return {
    async import(hashes, { of } = {}) {
      const ctx = await kernel.contextOf({ job: 'passwords', ...(of !== undefined && { tenant: of }) })
      return takeHashes(ctx, parts, hashes)
    },
    async has({ userId, of }) {
      const ctx = await kernel.contextOf({ job: 'passwords', ...(of !== undefined && { tenant: of }) })
      return (await passwordOf(ctx, userId)) !== null
    },
  }
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
    if (!dry) await ctx.records('password').put({ id: await rowId(userId), userId, hash, short: false, changed: ctx.now })
    stored++
  }
  return stored
}
