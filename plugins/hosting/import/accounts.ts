/** Accounts at providers, as they are stored here. Keys are `<provider> <id at the provider>`. */
import {
  type AccountKey,
  type AdapterAccount,
  AdapterError,
  type AnyContext,
  type ImportState,
  type ImportTarget,
  sha256,
  toHex,
} from 'authkernel/kernel'

/** An account with its owner. */
export type OwnedAccount = AdapterAccount

// Accounts that are read or written at once.
const width = 20

/** Names an account. */
export function accountKey({ provider, providerAccountId }: AccountKey): string {
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
    async read(ctx, rows) {
      const others = isEmpty ? [] : rows.filter(({ value }) => !value || !isMade(value.userId))
      const found = others.length === 0 ? [] : await ctx.service('store').listAccountOwners(others.map(({ key }) => toAccount(key)))
      const owners = new Map(found.map((account) => [accountKey(account), account.userId]))
      return Promise.all(
        rows.map(async ({ key, value }): Promise<ImportState | undefined> => {
          const owner = value && isMade(value.userId) ? value.userId : owners.get(key)
          return owner === undefined ? undefined : { version: await versionOf(owner), same: owner === value?.userId }
        }),
      )
    },
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
  const { provider, providerAccountId } = toAccount(key)
  return ctx.service('store').getAccount(providerAccountId, provider)
}

function toAccount(key: string): AccountKey {
  const at = key.indexOf(' ')
  return { provider: key.slice(0, at), providerAccountId: key.slice(at + 1) }
}

async function versionOf(userId: string): Promise<string> {
  return toHex(await sha256(userId))
}

async function eachOf<T, R>(rows: readonly T[], work: (row: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < rows.length; at += width) done.push(...(await Promise.all(rows.slice(at, at + width).map(work))))
  return done
}
