/** Who may see and change connections: owners of the organization, and the host's own code. */
import { AccessDenied, type AnyContext, type Context, jobFor, type Kernel, type OfTenant, type Row } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'
import { NoSuchConnection, SsoStepUp } from './errors.ts'
import { organizationsOf } from './organizations.ts'
import type { ResolvedOptions } from './options.ts'
import type { ConnectionRow } from './tables.ts'

/** Who does it: the user who is signed in on a request, a stored user, or your own code, which needs no right. `tenant` names the tenant where there are several. */
export type By = Request | ({ userId: string } & OfTenant) | ({ system: true } & OfTenant)

/** Who acts, with the options of the plugin. `userId` null: the host's own code. */
export interface Actor {
  ctx: AnyContext
  options: ResolvedOptions
  userId: string | null
  /** Another plugin acts for this organization, and for no other. */
  within?: string
}

/** Throws AccessDenied for a visitor, an API key, and an administrator who acts as another user. */
export async function createActor(kernel: Kernel, options: ResolvedOptions, by: By): Promise<Actor> {
  if (by instanceof Request) return createVisitor(await kernel.contextOf(by), options)
  return { ctx: await kernel.contextOf(jobFor('sso', by)), options, userId: 'system' in by ? null : by.userId }
}

/** The same on a route. */
export async function createVisitor(ctx: Context, options: ResolvedOptions): Promise<Actor> {
  const userId = (await findOwnUser(ctx, 'sso'))?.id
  if (userId === undefined) throw new AccessDenied('sso: no user is signed in.')
  return { ctx, options, userId }
}

/**
 * Throws NoSuchConnection for a user who is no member, AccessDenied for a member without the right, and SsoStepUp for a change with an old proof.
 * `organizationId` '' is the host.
 */
export async function assertRight({ ctx, options, userId, within }: Actor, organizationId: string, change: boolean): Promise<void> {
  if (within !== undefined && organizationId !== within) throw new NoSuchConnection('sso: the connection is of another organization.')
  if (userId === null) return
  const member = organizationId === '' ? null : await organizationsOf(ctx)?.findMember(ctx, { organizationId, userId })
  if (!member || member.suspended) throw new NoSuchConnection('sso: there is no such connection for this user.')
  if (!(await options.manage({ userId, organizationId, role: member.role, ctx })))
    throw new AccessDenied(`sso: the role "${member.role}" may not change the sign-in of the organization.`)
  if (change && ctx.request && keepsProof(ctx) && !(await hasFreshProof(ctx, { maxAge: options.proofAge })))
    throw new SsoStepUp(`sso: the proof of the user is older than ${options.proofAge} seconds. Call auth.stepUp.require(request) first.`)
}

/** The connection, for users who may manage it. */
export async function requireConnection(actor: Actor, id: unknown, change: boolean): Promise<Row<ConnectionRow>> {
  const row = typeof id === 'string' && /^[0-9a-f]{24}$/.test(id) ? await actor.ctx.records('ssoConnection').get(id) : null
  if (!row) throw new NoSuchConnection('sso: there is no such connection for this user.')
  await assertRight(actor, row.organizationId, change)
  return row
}

/** A strategy of the host app may keep no attributes: then the time of the proof is unknown. */
function keepsProof({ session }: Context): boolean {
  return session.attributes !== undefined && session.abilities?.has('attributes') !== false
}
