/** Backup codes that are used here are taken out of the table of better-auth, so that they stay used when the app goes back. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/two-factor'
import { isOpen } from './period.ts'
import { type BetterAuthSchema, columnOf, tableOf } from './schema.ts'
import type { BetterAuthDatabase, FindRow } from './source.ts'

interface Update {
  set(values: Readonly<Record<string, unknown>>): Update
  where(column: string, operator: string, value: unknown): Update
  executeTakeFirst(): Promise<{ numUpdatedRows: bigint }>
}
interface Parts {
  db: BetterAuthDatabase
  schema: BetterAuthSchema
  findRow: FindRow
  secrets: readonly string[] | undefined
  /** Called after the list was written: the ledger must not take it for a change by better-auth. */
  noteWrite(ctx: AnyContext, userId: string): Promise<void>
}

const tries = 5

/** Listens to uses of backup codes. */
export function removeUsedCodes(kernel: Kernel, { db, schema, findRow, secrets, noteWrite }: Parts): void {
  kernel.on(
    'backupCodeUsed',
    async ({ user, ctx }) => {
      if (user.id === undefined || !(await isOpen(ctx))) return
      const { decryptText, replaceText } = await import('./xchacha.ts')
      const keys = secrets ?? ctx.settings.secret
      for (let i = 0; i < tries; i++) {
        const { backupCodes: sealed } = await findRow('twoFactor', 'userId', user.id)
        if (typeof sealed !== 'string') return
        const opened = decryptText(sealed, keys)
        const codes = parseCodes(opened ?? sealed)
        if (!codes) return
        const left = JSON.stringify(await ctx.service('factorTakeover').listUnused(ctx, user.id, codes))
        const next = opened === undefined ? left : replaceText(sealed, left, keys, ctx.runtime.random(24))
        // Another use, or better-auth itself, may have changed the list meanwhile.
        if (next === undefined) return
        if (await writeCodes(db, schema, { userId: user.id, from: sealed, to: next })) return noteWrite(ctx, user.id)
      }
      ctx.logger.warn(
        'better-auth-backup-codes',
        `The used backup code of user ${user.id} could not be removed from the table of better-auth.`,
      )
    },
    { of: 'two-factor' },
  )
}

async function writeCodes(
  db: BetterAuthDatabase,
  schema: BetterAuthSchema,
  { userId, from, to }: { userId: string; from: string; to: string },
): Promise<boolean> {
  // The tables of the host are known at run time. This is the part of Kysely that is used.
  const writer = (db as unknown as { withoutPlugins(): { updateTable(table: string): Update } }).withoutPlugins()
  const column = columnOf(schema, 'twoFactor', 'backupCodes')
  const { numUpdatedRows } = await writer
    .updateTable(tableOf(schema, 'twoFactor'))
    .set({ [column]: to })
    .where(columnOf(schema, 'twoFactor', 'userId'), '=', userId)
    .where(column, '=', from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

function parseCodes(json: string): string[] | undefined {
  try {
    const codes: unknown = JSON.parse(json)
    return Array.isArray(codes) && codes.every((code) => typeof code === 'string') ? codes : undefined
  } catch {
    return undefined
  }
}
