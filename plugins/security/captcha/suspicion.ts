/** When a captcha is needed: after failures of the same network or account. */
import { type AnyContext, type Context, networksOf } from 'authkernel/kernel'
import { typedNames } from 'authkernel/kernel/users'

/** Failures after which a captcha is needed. */
export interface Suspicion {
  /** Failed sign-ins of one network, or for one name; default 3. */
  failures?: number
  /** In so many seconds; default 3600. */
  seconds?: number
}

const attack = { key: 'captcha attack', rule: { max: 1, seconds: 600 } }

/** Whether there were so many failures. Looks, and counts nothing. */
export async function isSuspicious(ctx: Context, { failures = 3, seconds = 3_600 }: Suspicion): Promise<boolean> {
  if (failures <= 0) return true
  for (const key of await suspicionKeys(ctx)) if (await isFull(ctx, key, { max: failures, seconds })) return true
  return isFull(ctx, attack.key, attack.rule)
}

/** An attacker guesses over many names: every user needs a captcha for ten minutes. */
export async function noteAttack(ctx: AnyContext): Promise<void> {
  await ctx.limit.take(attack.key, attack.rule)
}

/** Counts a failure. */
export async function noteFailure(ctx: Context, { failures = 3, seconds = 3_600 }: Suspicion): Promise<void> {
  if (failures <= 0) return
  for (const key of await suspicionKeys(ctx)) await ctx.limit.take(key, { max: failures, seconds })
}

async function isFull(ctx: Context, key: string, rule: { max: number; seconds: number }): Promise<boolean> {
  const { allowed } = await ctx.limit.take(key, rule)
  if (allowed) await ctx.limit.refund(key)
  return !allowed
}

async function suspicionKeys(ctx: Context): Promise<string[]> {
  const names = await typedNames(ctx)
  const network = `captcha network ${networksOf(ctx.clientAddress)[0]?.key}`
  return [network, ...(await Promise.all(names.map(async (name) => `captcha name ${await ctx.digest('captcha', name)}`)))]
}
