/** Whose agents a caller may see and change, and how fresh the proof of the user must be. */
import { AccessDenied, type AnyContext, type Context, jobFor, type Kernel, type OfTenant, proveAgain } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'
import { StepUpRequired } from './errors.ts'
import type { ResolvedOptions } from './options.ts'

/** Whose agents: those of the user who is signed in on a request, or of a stored user. `tenant` names the tenant where there are several. */
export type AgentsOf = Request | ({ userId: string } & OfTenant)

/** The owner of a call of the host app. Throws AccessDenied for a request that is signed out, and for a session that is not the user's own. */
export async function findAgentOwner(
  kernel: Kernel,
  who: AgentsOf,
  act: string,
  fresh?: Pick<ResolvedOptions, 'proofAge'>,
): Promise<{ ctx: AnyContext; userId: string }> {
  if (!(who instanceof Request)) return { ctx: await kernel.contextOf(jobFor('agents', { tenant: who.tenant })), userId: who.userId }
  const ctx = await kernel.contextOf(who)
  const user = await findOwnUser(ctx, `agents.${act}`)
  if (!user?.id) throw new AccessDenied(`agents.${act}: sign in first.`)
  if (fresh && keepsProof(ctx) && !(await hasFreshProof(ctx, { maxAge: fresh.proofAge })))
    throw new StepUpRequired(`agents.${act}: the proof is older than ${fresh.proofAge} seconds. Call auth.stepUp.require(request) first.`)
  return { ctx, userId: user.id }
}

/** For pages: leads to a fresh proof and back to the account page; undefined where it is fresh. */
export async function leadToProof(ctx: Context, { proofAge }: ResolvedOptions): Promise<Response | undefined> {
  return keepsProof(ctx) ? proveAgain(ctx, proofAge, `${ctx.base}/account`) : undefined
}

/** A strategy of the host app may keep no attributes: then the time of the proof is unknown. */
export function keepsProof({ session }: Context): boolean {
  return session.attributes !== undefined && session.abilities?.has('attributes') !== false
}
