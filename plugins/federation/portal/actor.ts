/** Who may send links: owners of the organization, and the host's own code. */
import { AccessDenied, type AnyContext, type Context, jobFor, type Kernel, type OfTenant } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'
import type {} from 'authkernel/plugins/organizations'
import { PortalInput, PortalStepUp } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import type { PortalSection } from './sections.ts'

/**
 * Who does it: the user who is signed in on a request, or your own code, which needs no right. A job knows no address of the app: `base` is the origin with the base
 * path, `https://app.example/auth`; it may be left out where `AUTH_URL` is set.
 */
export type By = Request | ({ system: true; base?: string | undefined } & OfTenant)

/** The options and built-in sections of one `portalPlugin`. */
export interface PluginInstance {
  options: ResolvedOptions
  sections: readonly PortalSection[]
}
/** Who acts. `userId` null: the host's own code. */
export interface Actor extends PluginInstance {
  ctx: AnyContext
  userId: string | null
  /** Origin and base path, for links. */
  base: string
}

/** Throws AccessDenied for a visitor, an API key, and an administrator who acts as another user. */
export async function createActor(kernel: Kernel, plugin: PluginInstance, by: By): Promise<Actor> {
  if (by instanceof Request) return createVisitor(await kernel.contextOf(by), plugin)
  const ctx = await kernel.contextOf(jobFor('portal', by))
  const { origin, basePath } = ctx.settings
  const base = by.base ?? (origin === undefined ? undefined : origin + basePath)
  return { ...plugin, ctx, userId: null, base: base ?? '' }
}

/** The same on a route. */
export async function createVisitor(ctx: Context, plugin: PluginInstance): Promise<Actor & { ctx: Context }> {
  const userId = (await findOwnUser(ctx, 'portal'))?.id
  if (userId === undefined) throw new AccessDenied('portal: no user is signed in.')
  return { ...plugin, ctx, userId, base: ctx.base }
}

/** Answers the organization. Throws AccessDenied for a user without the right, PortalInput for no organization, PortalStepUp for a change with an old proof. */
export async function assertRight(
  { ctx, options, userId, base }: Actor,
  organizationId: string,
  change: boolean,
): Promise<{ id: string; name: string }> {
  const organization = await ctx.service('organizations').get(ctx, organizationId)
  if (userId !== null && !(organization && (await mayManage(ctx, options, { organizationId, userId }))))
    throw new AccessDenied('portal: the user may not send links of this organization.')
  if (!organization) throw new PortalInput('portal: there is no such organization.')
  if (change && base === '') throw new PortalInput('portal: the address of the app is not known. Set AUTH_URL, or give `base`.')
  if (change && userId !== null && ctx.request && keepsProof(ctx) && !(await hasFreshProof(ctx, { maxAge: options.proofAge })))
    throw new PortalStepUp(
      `portal: the proof of the user is older than ${options.proofAge} seconds. Call auth.stepUp.require(request) first.`,
    )
  return organization
}

/** Whether a user may send links now: a member in force, whom the option permits it. */
export async function mayManage(
  ctx: AnyContext,
  { manage }: ResolvedOptions,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<boolean> {
  const member = await ctx.service('organizations').findMember(ctx, { organizationId, userId })
  return member !== null && !member.suspended && (await manage({ userId, organizationId, role: member.role, ctx }))
}

/** A strategy of the host app may keep no attributes: then the time of the proof is unknown. */
function keepsProof({ session }: Context): boolean {
  return session.attributes !== undefined && session.abilities?.has('attributes') !== false
}
