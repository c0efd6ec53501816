/** A portal for the IT of a customer: an owner sends a link, and its visitor sets up domains, company sign-in and directory without an account. */
import type { Plugin } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/organizations'
import type {} from 'authkernel/plugins/sso'
import { mayManage, type PluginInstance } from './actor.ts'
import { messages } from './messages.ts'
import { connectionMessages } from './messages-connection.ts'
import { linkMessages } from './messages-links.ts'
import { policyMessages } from './messages-policy.ts'
import { testMessages } from './messages-test.ts'
import { addClientMethods, createApi, type PortalApi, type PortalClient } from './methods.ts'
import { type PortalOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'
import { addRoutes } from './routes.ts'
import { createSections } from './section-list.ts'
import { linkTable } from './tables.ts'
import { closeOwnVisit, linkTokens, portalCookie } from './visit.ts'

export type { By } from './actor.ts'
export { PortalInput, PortalLinkInvalid, PortalStepUp } from './errors.ts'
export type { CreatedPortalLink, NewPortalLink, PortalLink } from './links.ts'
export type { PortalApi, PortalClient } from './methods.ts'
export type { PortalOptions } from './options.ts'
export type { PortalOutcome, PortalPage, PortalSection, PortalView, PortalVisit } from './sections.ts'
export type { LinkRow } from './tables.ts'

/**
 * Adds `auth.portal`, the pages `/portal` and `/portal/links`, and `client.portal`. Needs `organizationsPlugin`; sections of company sign-in need `ssoPlugin`. Other
 * plugins add sections by the hook `portalSections`. Throws AuthError for options of the wrong shape.
 */
export function portalPlugin(options: PortalOptions = {}): Plugin<PortalApi & PortalClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'portal',
    requires: ['organizations', 'records', 'limit', 'store', 'store:getUser', 'mail', 'mailTransport'],
    prefers: ['session:attributes'],
    setup(kernel) {
      const plugin: PluginInstance = { options: resolved, sections: createSections() }
      kernel.declareHook('portalSections', 'pipe', 'sections')
      kernel.records('portalLink', linkTable)
      kernel.cookie(portalCookie)
      kernel.pending(linkTokens)
      for (const texts of [messages, connectionMessages, linkMessages, policyMessages, testMessages]) kernel.messages(texts)
      kernel.mailTemplate('portal.link', {
        subject: 'portal.mail.subject',
        lines: ['portal.mail.text', 'portal.mail.once'],
        button: { text: 'portal.open', url: 'url' },
        note: 'portal.mail.ignore',
      })
      kernel.hook(
        'organizationNavigation',
        async ({ items, organizationId, userId, ctx }) => {
          const mayOpen = await mayManage(ctx, resolved, { organizationId, userId })
          return mayOpen
            ? [...items, { label: 'portal.links', to: `/portal/links?organization=${encodeURIComponent(organizationId)}` }]
            : items
        },
        { of: 'organizations' },
      )
      // Who had the account before a reset may have sent links.
      kernel.onAccessEnd('key', (ctx, { which, reason }) =>
        'userId' in which && reason === 'passwordReset' ? ctx.records('portalLink').deleteWhere({ where: { createdBy: which.userId } }) : 0,
      )
      kernel.on('signOut', ({ ctx }) => closeOwnVisit(ctx))
      kernel.on(
        'organizationChanged',
        async ({ act, organizationId, ctx }) => {
          if (act === 'deleted') await ctx.records('portalLink').deleteWhere({ where: { organizationId } })
        },
        { of: 'organizations' },
      )
      addRoutes(kernel, plugin)
      addPages(kernel, plugin)
      addClientMethods(kernel, plugin)
      return { portal: createApi(kernel, plugin) }
    },
  }
}
