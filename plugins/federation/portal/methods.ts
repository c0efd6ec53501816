/** `auth.portal` for the host app, and `client.portal` for the pages of owners. */
import { clientMethod, clientMethods, type ClientPart, type Context, type Kernel, readFields, type Wire } from 'authkernel/kernel'
import { type Actor, type By, createActor, createVisitor, type PluginInstance } from './actor.ts'
import { createLink, type CreatedPortalLink, listLinks, type NewPortalLink, type PortalLink, revokeLink } from './links.ts'

/**
 * What the plugin puts on `auth`. `by` is a request, or `{ system: true }` for your own code. It checks rights, not CSRF: call it from your own protected routes.
 * Each throws AccessDenied (403) for users who may not send links, and PortalInput (400).
 */
export interface PortalApi {
  portal: {
    /** Makes a link for one user. Its `url` is returned this one time. A request with an old proof throws PortalStepUp (403). */
    createLink(by: By, organizationId: string, link: NewPortalLink): Promise<CreatedPortalLink>
    /** Links that are not over, newest first. */
    listLinks(by: By, organizationId: string): Promise<PortalLink[]>
    /** Ends a link and the portal of the browser that opened it. False: there is no such link. */
    revokeLink(by: By, organizationId: string, id: string): Promise<boolean>
  }
}

/** `client.portal`: the same for the user who is signed in. */
export type PortalClient = ClientPart<{
  readonly portal: {
    /** Makes a link. */
    makeLink(input: NewPortalLink & { organizationId: string }): Promise<Wire<CreatedPortalLink>>
    /** Links that are not over. */
    listLinks(input: { organizationId: string }): Promise<Wire<PortalLink>[]>
    /** Ends one. */
    revokeLink(input: { organizationId: string; id: string }): Promise<boolean>
  }
}>

/** The methods of `auth.portal`. */
export function createApi(kernel: Kernel, plugin: PluginInstance): PortalApi['portal'] {
  const act =
    <A extends unknown[], O>(work: (actor: Actor, ...given: A) => Promise<O>) =>
    async (by: By, ...given: A): Promise<O> =>
      work(await createActor(kernel, plugin, by), ...given)
  return { createLink: act(createLink), listLinks: act(listLinks), revokeLink: act(revokeLink) }
}

/** Adds the methods of `client.portal`, which are also HTTP routes. */
export function addClientMethods(kernel: Kernel, plugin: PluginInstance): void {
  const method = <O>(work: (actor: Actor, fields: Record<string, unknown>) => Promise<O>) =>
    clientMethod(readFields, async (ctx: Context, fields) => work(await createVisitor(ctx, plugin), fields))
  clientMethods(kernel, 'portal', {
    makeLink: method((actor, { organizationId, ...link }) => createLink(actor, String(organizationId), link)),
    listLinks: method((actor, { organizationId }) => listLinks(actor, String(organizationId))),
    revokeLink: method((actor, { organizationId, id }) => revokeLink(actor, String(organizationId), String(id))),
  })
}
