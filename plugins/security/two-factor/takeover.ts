/** Second factors of another product. */
import { type AnyContext, AuthError, type FactorTaken } from 'authkernel/kernel'
import { storeBackupCodes } from './backup-codes.ts'
import { confirmedFactors } from './factors.ts'
import type { Person } from './person.ts'
import { never } from './tables.ts'

/** Stores them for users without a factor here; `dry` only counts. */
export async function takeFactors(ctx: AnyContext, rows: readonly FactorTaken[], { dry }: { dry: boolean }): Promise<number> {
  const bad = rows.findIndex(({ secret, backupCodes }) => !/^[A-Z2-7]{16,128}$/.test(secret) || backupCodes.length > 100)
  if (bad !== -1) throw new AuthError(`The second factor of entry ${bad} has a secret that is not base32, or more than 100 backup codes.`)
  let stored = 0
  for (const { userId, secret, backupCodes } of rows) {
    const user = await ctx.store?.getUser(userId)
    if (!user) continue
    const person: Person = { key: `user:${userId}`, userId, user }
    if ((await confirmedFactors(ctx, person)).length > 0) continue
    stored++
    if (dry) continue
    // First the codes: a factor without them locks out a user who has lost the phone.
    await ctx.records('twoFactorBackupCode').deleteWhere({ where: { person: person.key } })
    await storeBackupCodes(ctx, person, backupCodes)
    await ctx.records('twoFactor').create({
      person: person.key,
      userId,
      kind: 'totp',
      secret,
      confirmed: true,
      step: 0,
      created: ctx.now,
      expires: never,
    })
  }
  return stored
}
