/** Accounts at providers, as they are stored here. Keys are `<provider> <id at the provider>`. */
import { type AdapterAccount, AdapterError, type AnyContext, type ImportState, type ImportTarget, sha256, toHex } from 'authkernel/kernel'
import type { AccountTaken } from './users.ts'

/** An account with its owner. */
export type OwnedAccount = AdapterAccount

// Accounts that are read or written at once.
const width = 20

/** Names an account. */
export function accountKey({ provider, providerAccountId }: AccountTaken): string {
  return `${provider} ${providerAccountId}`
}

/**
 * The target for accounts. `isMade` tells users who were made a moment ago, together with their accounts, and `isEmpty` whether there were no users when the run
 * began: neither is read again.
 */
export function createAccountTarget(isMade: (userId: string) => boolean, isEmpty: boolean): ImportTarget<OwnedAccount> {
  return {
    refuse: (_ctx, { provider, providerAccountId }) =>
      provider.length > 255 || providerAccountId.length > 255 ? 'the provider or the id has more than 255 characters' : undefined,
    read: (ctx, rows) =>
      eachOf(rows, async ({ key, value }): Promise<ImportState | undefined> => {
        if (value && isMade(value.userId)) return { version: await versionOf(value.userId), same: true }
        const found = isEmpty ? null : await findAccount(ctx, key)
        return found ? { version: await versionOf(found.userId), same: found.userId === value?.userId } : undefined
      }),
    write: (ctx, rows) =>
      eachOf(rows, async ({ value, over }) => {
        // An account never moves to another user by an import: it may have been linked here by its owner.
        if (over !== undefined) return undefined
        try {
          await ctx.service('store').linkAccount(value)
          return await versionOf(value.userId)
        } catch (error) {
          if (error instanceof AdapterError && (await findAccount(ctx, accountKey(value)))) return undefined
          throw error
        }
      }),
    async remove(ctx, rows) {
      const removed = await eachOf(rows, async ({ key, version }) => {
        const found = await findAccount(ctx, key)
        if (!found || (await versionOf(found.userId)) !== version) return false
        await ctx.service('store').unlinkAccount(found)
        return true
      })
      return removed.filter(Boolean).length
    },
  }
}

async function findAccount(ctx: AnyContext, key: string) {
  const at = key.indexOf(' ')
  return ctx.service('store').getAccount(key.slice(at + 1), key.slice(0, at))
}

async function versionOf(userId: string): Promise<string> {
  return toHex(await sha256(userId))
}

async function eachOf<T, R>(rows: readonly T[], work: (row: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < rows.length; at += width) done.push(...(await Promise.all(rows.slice(at, at + width).map(work))))
  return done
}
