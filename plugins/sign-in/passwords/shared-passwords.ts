/** Another product that keeps passwords of the same users, while both run: each learns what is chosen at the other. */
import type { AnyContext } from 'authkernel/kernel'
import type { Parts } from './options.ts'
import { rowId, sharedMark } from './tables.ts'

/** The service that another plugin provides. */
export interface SharedPasswords {
  /** Name of the format in `verify` whose hashes the other product reads. */
  format: string
  /**
   * Brings what the other product stored since. Called before a password is compared, with an empty id for a name without a user: the work must be the same. `lacks`:
   * the other product has no password of this user. Throws Overloaded when it cannot be read.
   */
  refresh(ctx: AnyContext, userId: string): Promise<{ lacks: boolean }>
  /** Stores a hash of the password that the user has here now. False: the other product takes none. */
  share(ctx: AnyContext, userId: string, hash: string): Promise<boolean>
}

declare module 'authkernel/kernel' {
  interface Services {
    sharedPasswords: SharedPasswords
  }
}

/** Before a password is compared. */
export async function refreshShared(ctx: AnyContext, userId: string): Promise<{ lacks: boolean }> {
  return (await ctx.app.services.sharedPasswords?.refresh(ctx, userId)) ?? { lacks: false }
}

/** The password of this user, in clear text, for the other product. It counts here whether or not that product takes it: a fault is logged. */
export async function sharePassword(ctx: AnyContext, { options, hasher }: Parts, userId: string, password: string): Promise<void> {
  const { sharedPasswords } = ctx.app.services
  const format = sharedPasswords && options.verify.find(({ name }) => name === sharedPasswords.format)
  if (!sharedPasswords || !format?.make) return
  try {
    const row = await ctx.records('password').get(await rowId(userId))
    if (!row || row.parked) return
    const hash = await hasher.make(format, password)
    // Another request may have set a newer one meanwhile.
    const marked = await ctx.records('password').update(row.id, { imported: await sharedMark(hash) }, { if: { hash: row.hash } })
    if (marked) await sharedPasswords.share(ctx, userId, hash)
  } catch (error) {
    ctx.logger.error(error as Error)
  }
}
