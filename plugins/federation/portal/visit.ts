/** The browser that has opened a link: found by its cookie at each request, and checked against what holds now. */
import { type AnyContext, type Context, type CookieHandle, createCookie, createPending, type PendingList } from 'authkernel/kernel'
import { mayManage, type PluginInstance } from './actor.ts'
import { findOpenLink } from './links.ts'
import type { PortalVisit } from './sections.ts'

/** The session of the portal. Lax: users come back from the identity provider after a test. */
export const portalCookie: CookieHandle = /* @__PURE__ */ createCookie('portal', { path: 'base' })

/** The token of a link, from the address to the button: addresses are written to logs. */
export const linkTokens: PendingList<{ token: string }> = /* @__PURE__ */ createPending('portal-link', { seconds: 3600, max: 1 })

const visits = new WeakMap<Context, Promise<PortalVisit | null>>()

/**
 * Null: this browser has opened no link, or the link is over, was revoked, its organization is gone, or its sender may not send links any more. Names the link in
 * audit records of this request.
 */
export function findVisit(ctx: Context, plugin: PluginInstance): Promise<PortalVisit | null> {
  const found = visits.get(ctx) ?? readVisit(ctx, plugin)
  visits.set(ctx, found)
  return found
}

/** Owners who went in themselves leave the portal with their sign-out: the next user of the browser must not set up their company. */
export async function closeOwnVisit(ctx: AnyContext): Promise<void> {
  if (!ctx.request) return
  const row = await findOpenLink(ctx, portalCookie.get(ctx as Context) ?? '')
  if (!row || row.createdBy === null || (await ctx.store?.getUser(row.createdBy))?.email !== row.email) return
  await ctx.records('portalLink').delete(row.id)
  portalCookie.delete(ctx as Context)
}

async function readVisit(ctx: Context, { options }: PluginInstance): Promise<PortalVisit | null> {
  const row = await findOpenLink(ctx, portalCookie.get(ctx) ?? '')
  const organization = row && (await ctx.service('organizations').get(ctx, row.organizationId))
  if (!row || !organization) return null
  const { id, organizationId, createdBy, email, scopes, expires } = row
  // The link has the rights of its sender, and ends with them: also when the sender is banned, which takes no role away.
  if (createdBy !== null && !(await mayManage(ctx, options, { organizationId, userId: createdBy }))) return null
  if (createdBy !== null && !(await ctx.access.allows(createdBy, 'portalVisit'))) return null
  ctx.actAs({ type: 'portal', id })
  return { ctx, linkId: id, organization: { id: organizationId, name: organization.name }, email, scopes, expires }
}
