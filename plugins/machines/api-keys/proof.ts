/** Keys are made by whoever proved a moment ago who they are: a session that was copied or left open makes none that outlive it. */
import { AccessDenied, type Context, hasFreshProof, proveAgain, SignInError } from 'authkernel/kernel'
import type { ResolvedOptions } from './options.ts'

/** The proof of the session is older than `proofAge`: `auth.stepUp.require(request)`, or a new sign-in, renews it. */
export class StepUpRequired extends SignInError {
  static override type = 'StepUpRequired'
  static override row = { page: 'signIn' as const, status: 403, visible: true }
}

/** For requests that are answered in JSON, and for calls of the host app. Throws StepUpRequired, and AccessDenied where somebody acts as the user. */
export async function assertProof(ctx: Context, { proofAge }: ResolvedOptions, what: string): Promise<void> {
  const session = await ctx.currentSession()
  if (session && 'actor' in session) throw new AccessDenied(`apiKeys.${what}: whoever acts as another user cannot change keys.`)
  if (!canTell(ctx) || (await hasFreshProof(ctx, { maxAge: proofAge }))) return
  throw new StepUpRequired(`apiKeys.${what}: the proof is older than ${proofAge} seconds. Call auth.stepUp.require(request) first.`)
}

/** For pages: leads to a fresh proof and back to the account page; undefined where it is fresh. */
export async function leadToProof(ctx: Context, { proofAge }: ResolvedOptions): Promise<Response | undefined> {
  return canTell(ctx) ? proveAgain(ctx, proofAge, `${ctx.base}/account`) : undefined
}

/** A strategy of the host app may keep no attributes: nobody knows then when the person proved anything. */
function canTell({ session }: Context): boolean {
  return session.attributes !== undefined && session.abilities?.has('attributes') !== false
}
