/** Company sign-in of the organization of a visit. */
import type { OrganizationSso } from 'authkernel/plugins/sso'
import type { PortalVisit } from './sections.ts'

/** Whether the portal may read an address of this organization's choice once more: 60 times an hour. */
export async function takeFetch({ ctx, organization }: Pick<PortalVisit, 'ctx' | 'organization'>): Promise<boolean> {
  return (await ctx.limit.take(`portal fetch ${organization.id}`, { max: 60, seconds: 3600 })).allowed
}

/** Undefined without `ssoPlugin`. */
export function ssoOf({ ctx, organization }: Pick<PortalVisit, 'ctx' | 'organization'>): OrganizationSso | undefined {
  return ctx.app.services.sso?.forOrganization(ctx, organization.id)
}
