/** Whose keys a caller may see and change, and how fresh the proof of the user must be: a copied session makes no key that outlives it. */
import { AccessDenied, type AnyContext, type Context, jobFor, type Kernel, type OfTenant, proveAgain } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { StepUpRequired } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import type { KeyOwner } from './tables.ts'

/** Whose keys: those of the user who is signed in on a request, or of a named owner. `tenant` names the tenant where there are several. */
export type KeysOf = Request | (KeyOwner & OfTenant)

/** The owner for a call of the host app; `owner` is undefined for a visitor. `change`: a session by key may look, and may change no credential. */
export async function findOwner(kernel: Kernel, who: KeysOf, change?: string): Promise<{ ctx: AnyContext; owner: KeyOwner | undefined }> {
  if (!(who instanceof Request)) {
    const { tenant, ...owner } = who
    return { ctx: await kernel.contextOf(jobFor('apiKeys', { tenant })), owner }
  }
  const ctx = await kernel.contextOf(who)
  const session = await ctx.currentSession()
  if (session?.apiKey && change) throw new AccessDenied(`apiKeys.${change}: a request that is signed in by an API key cannot change keys.`)
  if (session?.apiKey) return { ctx, owner: session.apiKey.owner }
  if (session && 'bearer' in session) {
    if (change) throw new AccessDenied(`apiKeys.${change}: an app cannot change keys.`)
    return { ctx, owner: undefined }
  }
  const userId = session && (await ctx.session.user(ctx))?.id
  return { ctx, owner: userId ? { userId } : undefined }
}

/** The user for routes and client methods; null for a visitor. A key must not make keys: throws AccessDenied. */
export async function findUserId(ctx: Context): Promise<string | null> {
  const session = await ctx.currentSession()
  if (session && ('apiKey' in session || 'bearer' in session))
    throw new AccessDenied('A request that is signed in by an API key or by an app cannot manage keys.')
  return (session && (await ctx.session.user(ctx))?.id) ?? null
}

/** The user for pages, which treat a key, an app and an admin who acts as the user as a visitor. */
export async function findPageUserId(ctx: Context): Promise<string | null> {
  const session = await ctx.currentSession()
  if (!session || 'apiKey' in session || 'bearer' in session || 'actor' in session) return null
  return (await ctx.session.user(ctx))?.id ?? null
}

/** For JSON and for calls of the host app. Throws StepUpRequired, and AccessDenied where an admin acts as the user. */
export async function assertProof(ctx: Context, { proofAge }: ResolvedOptions, what: string): Promise<void> {
  const session = await ctx.currentSession()
  if (session && 'actor' in session) throw new AccessDenied(`apiKeys.${what}: whoever acts as another user cannot change keys.`)
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
