/** Whose keys a caller may see and change, and how fresh the proof of the user must be: a copied session makes no key that outlives it. */
import { type AnyContext, type Context, jobFor, type Kernel, type OfTenant, proveAgain } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'
import { StepUpRequired } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import type { KeyOwner } from './tables.ts'

/** Whose keys: those of the user who is signed in on a request, or of a named owner. `tenant` names the tenant where there are several. */
export type KeysOf = Request | (KeyOwner & OfTenant)

/** The owner for a call of the host app; `owner` is undefined for a visitor. `change`: a session by key may look, and may change no credential. */
export async function findKeyOwner(
  kernel: Kernel,
  who: KeysOf,
  change?: string,
): Promise<{ ctx: AnyContext; owner: KeyOwner | undefined }> {
  if (!(who instanceof Request)) {
    const { tenant, ...owner } = who
    return { ctx: await kernel.contextOf(jobFor('apiKeys', { tenant })), owner }
  }
  const ctx = await kernel.contextOf(who)
  const session = await ctx.currentSession()
  if (session?.apiKey && !change) return { ctx, owner: session.apiKey.owner }
  const userId = (await findOwnUser(ctx, change && `apiKeys.${change}`))?.id
  return { ctx, owner: userId ? { userId } : undefined }
}

/** The user for routes and client methods; null for a visitor. A key must not make keys: throws AccessDenied. */
export async function findUserId(ctx: Context): Promise<string | null> {
  return (await findOwnUser(ctx, 'apiKeys'))?.id ?? null
}

/** The user for pages, which treat a key, an app and an admin who acts as the user as a visitor. */
export async function findPageUserId(ctx: Context): Promise<string | null> {
  return (await findOwnUser(ctx))?.id ?? null
}

/** For JSON and for calls of the host app. Throws StepUpRequired. */
export async function assertProof(ctx: Context, { proofAge }: ResolvedOptions, what: string): Promise<void> {
  if (!keepsProof(ctx) || (await hasFreshProof(ctx, { maxAge: proofAge }))) return
  throw new StepUpRequired(`apiKeys.${what}: the proof is older than ${proofAge} seconds. Call auth.stepUp.require(request) first.`)
}

/** For pages: leads to a fresh proof and back to the account page; undefined where it is fresh. */
export async function leadToProof(ctx: Context, { proofAge }: ResolvedOptions): Promise<Response | undefined> {
  return keepsProof(ctx) ? proveAgain(ctx, proofAge, `${ctx.base}/account`) : undefined
}

/** A strategy of the host app may keep no attributes: then the time of the proof is unknown. */
function keepsProof({ session }: Context): boolean {
  return session.attributes !== undefined && session.abilities?.has('attributes') !== false
}
