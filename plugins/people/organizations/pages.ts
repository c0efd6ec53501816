/** The pages of organizations: the list and an invitation. None of it needs JavaScript. */
import { type Content, type Context, createPending, type Kernel, type PageTools, type PageView, type PendingList } from 'authkernel/kernel'
import { type Actor, findUser, type PluginInstance, rolesOf, rowsOf } from './actor.ts'
import { isSameMailbox } from './input.ts'
import { findInvitation } from './invitations.ts'
import { listSuggestions, type Suggestion } from './joining.ts'
import { listOrganizations, type OwnOrganization } from './organizations.ts'
import { domainsPage } from './pages-domains.ts'
import { findVisitor, nameOfRole, type Params, pageStatus } from './pages-frame.ts'
import { addMemberPages } from './pages-members.ts'
import { addRolePages } from './pages-roles.ts'
import { addSettingsPages } from './pages-settings.ts'
import { teamsPage } from './pages-teams.ts'
import { grantsPermission } from './roles.ts'

/** The token of an invitation, from the mail to the button: addresses are written to logs, and travel through the sign-in. */
export const invitationTokens: PendingList<{ token: string }> = /* @__PURE__ */ createPending('organization-invitation', {
  seconds: 86_400,
  max: 1,
})

/** Adds the pages and the section of the account page. */
export function addPages(kernel: Kernel, plugin: PluginInstance): void {
  kernel.page('organizations', (ctx, tools, params) => drawOverview(plugin, ctx, tools, params), { path: '/organizations' })
  addMemberPages(kernel, plugin)
  addRolePages(kernel, plugin)
  kernel.page('organizationTeams', teamsPage(plugin), { path: '/organizations/teams' })
  kernel.page('organizationDomains', domainsPage(plugin), { path: '/organizations/domains' })
  addSettingsPages(kernel, plugin)
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
      const rows = await Promise.all(
        (await listOrganizations(actor)).map(async ({ id, name, image, roles }) => {
          const text = (await nameRoles(actor, tools, id, roles)).map((one, at) => [at > 0 && ', ', one])
          return row({ title: html`<bdi>${name}</bdi>`, text, picture: avatar({ name, picture: image }) })
        }),
      )
      return {
        heading: say('organizations.title'),
        actions: buttonLink(say('organizations.manage'), '/organizations'),
        body: rows,
      }
    },
  })
}

/** The question of the dialog as a page, for browsers without JavaScript. */
async function drawLeavePage(tools: PageTools, { id, name }: OwnOrganization): Promise<PageView> {
  const { say, card, buttonLink, html } = tools
  const title = say('organizations.leave')
  return {
    title,
    lead: html`<bdi>${name}</bdi>`,
    layout: 'wide',
    body: [
      card({
        title,
        text: say('organizations.leave.lead'),
        body: await drawLeaving(tools, id),
        danger: true,
      }),
      buttonLink(say('organizations.back'), '/organizations'),
    ],
  }
}

function drawLeaving({ say, form, button }: PageTools, id: string): Promise<Content> {
  return form('/organizations', button(say('organizations.leave'), { tone: 'danger' }), { action: 'leave', organization: id })
}

async function drawOverview(
  plugin: PluginInstance,
  ctx: Context,
  tools: PageTools,
  { error, done, leave }: Params,
): Promise<PageView | Response> {
  const { say, form, field, submit, alert, toast, card, row, avatar, tag, button, buttonLink, dialog, emptyState, html, typed } = tools
  const actor = await findVisitor(plugin, ctx)
  if (!actor) return ctx.page('signIn')
  const active = (await ctx.currentSession())?.organization?.id
  const [own, suggested] = [await listOrganizations(actor), await listSuggestions(actor)]
  const drawOne = async ({ id, name, image, roles }: OwnOrganization): Promise<Content> => {
    const known = await rolesOf(actor.rows, plugin.options, id)
    const describedBy = `organization-${id}`
    return row({
      id: describedBy,
      title: html`<bdi>${name}</bdi>`,
      text: (await nameRoles(actor, tools, id, roles)).map((one, at) => [at > 0 && ', ', one]),
      tags: id === active && tag(say('organizations.active'), 'ok'),
      picture: avatar({ name, picture: image }),
      actions: [
        id !== active &&
          (await form('/organizations', button(say('organizations.switch'), { describedBy }), { action: 'active', organization: id })),
        grantsPermission(known, roles, 'member:read') &&
          buttonLink(say('organizations.members'), `/organizations/members?organization=${encodeURIComponent(id)}`, { describedBy }),
        dialog({
          id: `leave-${id}`,
          label: say('organizations.leave'),
          title: say('organizations.leave'),
          text: say('organizations.leave.lead'),
          body: await drawLeaving(tools, id),
          path: `/organizations?leave=${encodeURIComponent(id)}`,
          tone: 'danger',
          describedBy,
        }),
      ],
    })
  }
  const name = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100, value: typed('name', 'create') })
  const leaving = own.find(({ id }) => id === leave)
  if (leaving && error === undefined) return drawLeavePage(tools, leaving)
  return {
    title: say('organizations.title'),
    layout: 'wide',
    body: [
      alert(error),
      done !== undefined && toast(say('organizations.done')),
      ...(await Promise.all(suggested.map((one) => drawSuggestion(tools, one)))),
      card({
        title: say('organizations.title'),
        body:
          own.length === 0
            ? emptyState({ title: say('organizations.none'), text: say('organizations.none.lead') })
            : await Promise.all(own.map(drawOne)),
      }),
      card({
        title: say('organizations.create'),
        body: await form('/organizations', [name, submit(say('organizations.create'))], { action: 'create' }),
      }),
    ],
    ...pageStatus(error),
  }
}

async function drawSuggestion({ say, card, form, button }: PageTools, { id, name, domain }: Suggestion): Promise<Content> {
  return card({
    title: say('organizations.suggested', { organization: name }),
    text: say('organizations.suggested.lead', { domain }),
    actions: await form('/organizations', button(say('organizations.join'), { tone: 'primary' }), { action: 'join', organization: id }),
  })
}

/** The names of the roles that the user of the actor has. */
async function nameRoles({ rows }: Actor, tools: PageTools, organizationId: string, held: readonly string[]): Promise<Content[]> {
  return Promise.all(
    held.map(async (role) => {
      const made = role.startsWith('custom-') ? await rows.records('organizationRole').get({ organizationId, key: role }) : null
      return nameOfRole(tools, { role, title: made?.title ?? null })
    }),
  )
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
