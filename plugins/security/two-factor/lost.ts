/** Factors whose secret cannot be decrypted, because the host dropped a secret without `authkernel reseal`. */
import type { AnyContext, Row } from 'authkernel/kernel'
import type { FactorRow } from './tables.ts'

/** Confirmed factors, with those that cannot be used any more: whoever has one is not treated as a user without factors. */
export async function enrolledFactors(ctx: AnyContext, { key }: { key: string }): Promise<Row<FactorRow>[]> {
  const { rows } = await ctx.records('twoFactor').find({ where: { person: key } })
  return rows.filter(({ confirmed }) => confirmed)
}

/** A code by mail has no secret. */
export function isUsable({ kind, secret }: Row<FactorRow>): boolean {
  return kind === 'emailCode' || secret !== null
}

/** Whether all apps and keys of a user are lost: as after a reset, the address must be proved and a new factor set up at the next sign-in. */
export async function hasLostFactors(ctx: AnyContext, person: { key: string }): Promise<boolean> {
  const strong = (await enrolledFactors(ctx, person)).filter(({ kind }) => kind !== 'emailCode')
  return strong.length > 0 && !strong.some(isUsable)
}
