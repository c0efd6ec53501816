/** The browser that has opened a link: found by its cookie at each request, and checked against what holds now. */
import { type Context, type CookieHandle, createCookie, createPending, type PendingList } from 'authkernel/kernel'
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

async function readVisit(ctx: Context, { options }: PluginInstance): Promise<PortalVisit | null> {
  const row = await findOpenLink(ctx, portalCookie.get(ctx) ?? '')
  const organization = row && (await ctx.service('organizations').get(ctx, row.organizationId))
  if (!row || !organization) return null
  const { id, organizationId, createdBy, email, scopes, expires } = row
  // The link has the rights of its sender, and ends with them.
  if (createdBy !== null && !(await mayManage(ctx, options, { organizationId, userId: createdBy }))) return null
  ctx.actAs({ type: 'portal', id })
  return { ctx, linkId: id, organization: { id: organizationId, name: organization.name }, email, scopes, expires }
}
