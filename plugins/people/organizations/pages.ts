/** The pages of organizations: the list, members, settings and an invitation. None of it needs JavaScript. */
import {
  type Content,
  type Context,
  createPending,
  type Kernel,
  type PageDraw,
  type PageTools,
  type PageView,
  type PendingList,
} from 'authkernel/kernel'
import { findUser, type PluginInstance, rowsOf } from './actor.ts'
import { isSameMailbox } from './input.ts'
import { findInvitation, listInvitations } from './invitations.ts'
import { listMembers } from './members.ts'
import { listOrganizations } from './organizations.ts'
import { domainsPage } from './pages-domains.ts'
import { drawOrganizationPage, drawRoleChoice, findVisitor, nameOfRole, type Params, pageStatus } from './pages-frame.ts'
import { teamsPage } from './pages-teams.ts'
import { coversRole, grantsPermission } from './roles.ts'

/** The token of an invitation, from the mail to the button: addresses are written to logs, and travel through the sign-in. */
export const invitationTokens: PendingList<{ token: string }> = /* @__PURE__ */ createPending('organization-invitation', {
  seconds: 86_400,
  max: 1,
})

/** Adds the pages and the section of the account page. */
export function addPages(kernel: Kernel, plugin: PluginInstance): void {
  kernel.page('organizations', (ctx, tools, params) => drawOverview(plugin, ctx, tools, params), { path: '/organizations' })
  kernel.page('organizationMembers', membersPage(plugin), { path: '/organizations/members' })
  kernel.page('organizationTeams', teamsPage(plugin), { path: '/organizations/teams' })
  kernel.page('organizationDomains', domainsPage(plugin), { path: '/organizations/domains' })
  kernel.page('organizationSettings', settingsPage(plugin), { path: '/organizations/settings' })
  kernel.page('organizationInvitation', (ctx, tools, params) => drawInvitation(plugin, ctx, tools, params))
  kernel.route({
    method: 'GET',
    path: '/organizations/invitation',
    async handler(ctx) {
      const token = ctx.url.searchParams.get('token')
      if (token !== null) {
        // Opening it uses nothing up: programs that look into mails do that too.
        if (/^[0-9a-f]{64}$/.test(token)) await invitationTokens.add(ctx, 'invitation', { token })
        return new Response(null, {
          status: 302,
          headers: {
            Location: `${ctx.base}/organizations/invitation`,
            'Cache-Control': 'private, no-store',
            'Referrer-Policy': 'no-referrer',
          },
        })
      }
      return ctx.render('organizationInvitation', { error: ctx.url.searchParams.get('error') ?? undefined })
    },
  })
  kernel.accountSection({
    id: 'organizations',
    order: 400,
    async draw(ctx, tools) {
      const { say, buttonLink, row, avatar, html } = tools
      const actor = await findVisitor(plugin, ctx)
      if (!actor) return undefined
      const rows = (await listOrganizations(actor)).map(({ name, role }) =>
        row({ title: html`<bdi>${name}</bdi>`, text: nameOfRole(tools, role), picture: avatar({ name }) }),
      )
      return {
        heading: say('organizations.title'),
        actions: buttonLink(say('organizations.manage'), '/organizations'),
        body: rows,
      }
    },
  })
}

async function drawOverview(plugin: PluginInstance, ctx: Context, tools: PageTools, { error }: Params): Promise<PageView | Response> {
  const { html, say, form, field, submit, link, alert } = tools
  const actor = await findVisitor(plugin, ctx)
  if (!actor) return ctx.page('signIn')
  const active = (await ctx.currentSession())?.organization?.id
  const body: Content[] = [alert(error)]
  for (const { id, name, role } of await listOrganizations(actor)) {
    const here = id === active
    const reads = grantsPermission(plugin.options.roles, role, 'member:read')
    body.push(
      html`<section class="item">
        <h2>${name}</h2>
        <p>${nameOfRole(tools, role)}${here && html` · ${say('organizations.active')}`}</p>
        ${
          reads
            ? link(say('organizations.members'), `/organizations/members?organization=${encodeURIComponent(id)}`)
            : await form('/organizations', submit(say('organizations.leave'), { quiet: true }), { action: 'leave', organization: id })
        }
        ${!here && (await form('/organizations', submit(say('organizations.switch'), { quiet: true }), { action: 'active', organization: id }))}
      </section>`,
    )
  }
  const name = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100 })
  body.push(await form('/organizations', [name, submit(say('organizations.create'))], { action: 'create' }))
  return { title: say('organizations.title'), body, ...pageStatus(error) }
}

function membersPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'members' }, async (visit) => {
      const { html, say, field, submit, date, link } = tools
      const { membership, may, act } = visit
      const { organization: id = '', cursor } = params
      const page = await listMembers(membership, id, { cursor })
      const body: Content[] = []
      for (const { userId, role, name, email } of page.members) {
        const [self, shown] = [userId === membership.user?.id, name ?? email ?? userId]
        const touchable = coversRole(plugin.options.roles, membership.role ?? '', role)
        body.push(
          html`<section class="item">
            <h2>${shown}</h2>
            <p>${name !== null && email !== null && html`${email} · `}${nameOfRole(tools, role)}</p>
            ${
              may('member:role') &&
              touchable &&
              (await act('role', [drawRoleChoice(visit, shown, role), submit(say('organizations.save'), { quiet: true })], { userId }))
            }
            ${
              !self &&
              may('member:remove') &&
              touchable &&
              (await act('remove', submit(say('organizations.remove'), { quiet: true }), { userId }))
            }
            ${self && (await act('leave', submit(say('organizations.leave'), { quiet: true })))}
          </section>`,
        )
      }
      if (page.cursor !== undefined) {
        const next = new URLSearchParams({ organization: id, cursor: page.cursor }).toString()
        body.push(link(say('organizations.more'), `/organizations/members?${next}`))
      }
      if (!may('invitation:create')) return body
      const email = field('email', { label: 'Email', type: 'email', required: true, maxlength: 254 })
      body.push(html`<h2>${say('organizations.invite')}</h2>`)
      body.push(await act('invite', [email, drawRoleChoice(visit, '', 'member'), submit(say('organizations.send'))]))
      for (const open of await listInvitations(membership, id))
        body.push(
          html`<section class="item">
            <h3>${open.email}</h3>
            <p>${nameOfRole(tools, open.role)} · ${say('organizations.until', { date: date(open.expires) })}</p>
            ${
              may('invitation:cancel') &&
              (await act('cancel', submit(say('organizations.cancel'), { quiet: true }), { invitation: open.id }))
            }
          </section>`,
        )
      return body
    })
}

/** `GET /organizations/settings?organization=<id>`. */
function settingsPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'settings' }, async ({ membership, may, act }) => {
      const { html, say, field, submit } = tools
      const { name } = membership.organization
      const body: Content[] = []
      if (may('organization:update')) {
        const text = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100, value: name }, 'rename')
        body.push(await act('update', [text, submit(say('organizations.save'))]))
      }
      if (may('organization:delete')) {
        const typed = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100 }, 'delete')
        body.push(html`<h2>${say('organizations.delete')}</h2>`)
        body.push(html`<p>${say('organizations.delete.lead', { name })}</p>`)
        body.push(await act('delete', [typed, submit(say('organizations.delete'), { quiet: true })]))
      }
      return body
    })
}

async function drawInvitation(plugin: PluginInstance, ctx: Context, tools: PageTools, { error }: Params): Promise<PageView> {
  const { html, say, form, submit, link, alert, base } = tools
  const [entry] = await invitationTokens.all(ctx)
  const found = entry && (await findInvitation({ ...plugin, ctx, rows: await rowsOf(plugin, ctx) }, entry.token))
  const title = say('organizations.invitation')
  if (!found) return { title, body: [alert('InvitationInvalid'), link(say('organizations.manage'), '/organizations')], status: 400 }
  const { row, organization } = found
  const values = { organization: organization.name, email: row.email }
  const lead = say('organizations.invited', values)
  const user = await findUser(ctx)
  const decline = await form('/organizations', submit(say('organizations.decline'), { quiet: true }), { action: 'decline' })
  if (!user) {
    const back = new URLSearchParams({ callbackUrl: `${base}/organizations/invitation` }).toString()
    return {
      title,
      lead,
      body: [html`<p>${say('organizations.sign-in', values)}</p>`, link(say('organizations.to-sign-in'), `/signin?${back}`), decline],
    }
  }
  if (!isSameMailbox(user.email, row.email) || !user.emailVerified)
    return {
      title,
      lead,
      body: [html`<p role="alert">${say('organizations.other', values)}</p>`, link(say('organizations.sign-out'), '/signout'), decline],
    }
  const accept = await form('/organizations', submit(say('organizations.accept')), { action: 'accept' })
  return { title, lead, body: [alert(error), accept, decline], ...pageStatus(error) }
}
