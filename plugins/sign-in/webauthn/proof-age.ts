/** How old the proof of a session is, where a passkey is added or removed. */
import type { Context } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'

// Seconds: password managers make a passkey without a question for a password that they have just filled in.
const passwordAge = 300

/** Whether the proof is older than `maxAge` seconds. False where sessions keep no attributes, and no age is known. */
export async function isProofOld(ctx: Context, maxAge: number): Promise<boolean> {
  return ctx.session.abilities?.has('attributes') === true && !(await hasFreshProof(ctx, { maxAge }))
}

/** Whether this session has just begun with a password. */
export async function hasNewPasswordProof(ctx: Context): Promise<boolean> {
  const attributes = await ctx.session.attributes?.(ctx)
  const at = attributes?.methods['pwd']
  const seconds = Math.floor(ctx.now.getTime() / 1000)
  return at !== undefined && at <= seconds && seconds - at <= passwordAge
}
