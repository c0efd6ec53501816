/** What people see: their organizations, the members of one, and an invitation. None of it needs JavaScript. */
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
import { listOwn } from './acts.ts'
import { isSameMailbox } from './address.ts'
import { type Desk, rowsOf, visitorOf } from './desk.ts'
import { byToken, listInvitations } from './invitations.ts'
import { list } from './members.ts'
import { failed, inside, type Params, roleChoice, roleName, visiting } from './page-parts.ts'
import { domainsPage } from './pages-domains.ts'
import { settingsPage } from './pages-settings.ts'
import { teamsPage } from './pages-teams.ts'
import { covers, grants } from './roles.ts'

/** The token of an invitation, from the mail to the button: addresses are written to logs, and travel through the sign-in. */
export const opened: PendingList<{ token: string }> = /* @__PURE__ */ createPending('organization-invitation', { seconds: 86_400, max: 1 })

/** Adds the pages and the section of the account page. */
export function addPages(kernel: Kernel, desk: Desk): void {
  kernel.page('organizations', (ctx, tools, params) => overview(desk, ctx, tools, params), { path: '/organizations' })
  kernel.page('organizationMembers', membersPage(desk), { path: '/organizations/members' })
  kernel.page('organizationTeams', teamsPage(desk), { path: '/organizations/teams' })
  kernel.page('organizationDomains', domainsPage(desk), { path: '/organizations/domains' })
  kernel.page('organizationSettings', settingsPage(desk), { path: '/organizations/settings' })
  kernel.page('organizationInvitation', (ctx, tools, params) => invitation(desk, ctx, tools, params))
  kernel.route({
    method: 'GET',
    path: '/organizations/invitation',
    async handler(ctx) {
      const token = ctx.url.searchParams.get('token')
      if (token !== null) {
        // Opening it uses nothing up: programs that look into mails do that too.
        if (/^[0-9a-f]{64}$/.test(token)) await opened.add(ctx, 'invitation', { token })
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
    async draw(ctx, { say, link, html }) {
      const actor = await visiting(desk, ctx)
      if (!actor) return undefined
      const names = (await listOwn(actor)).map(({ name }) => html`<li>${name}</li>`)
      return {
        heading: say('organizations.title'),
        body: [
          names.length > 0 &&
            html`<ul>
              ${names}
            </ul>`,
          link(say('organizations.manage'), '/organizations'),
        ],
      }
    },
  })
}

async function overview(desk: Desk, ctx: Context, tools: PageTools, { error }: Params): Promise<PageView | Response> {
  const { html, say, form, field, submit, link, alert } = tools
  const actor = await visiting(desk, ctx)
  if (!actor) return ctx.page('signIn')
  const active = (await ctx.currentSession())?.organization?.id
  const body: Content[] = [alert(error)]
  for (const { id, name, role } of await listOwn(actor)) {
    const here = id === active
    const reads = grants(desk.options.roles, role, 'member:read')
    body.push(
      html`<section class="item">
        <h2>${name}</h2>
        <p>${roleName(tools, role)}${here && html` · ${say('organizations.active')}`}</p>
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
  return { title: say('organizations.title'), body, ...failed(error) }
}

function membersPage(desk: Desk): PageDraw {
  return (ctx, tools, params) =>
    inside(desk, ctx, { tools, params, place: 'members' }, async (visit) => {
      const { html, say, field, submit, date, link } = tools
      const { seat, may, act } = visit
      const { organization: id = '', cursor } = params
      const page = await list(seat, id, { cursor })
      const body: Content[] = []
      for (const { userId, role, name, email } of page.members) {
        const [self, shown] = [userId === seat.user?.id, name ?? email ?? userId]
        const touchable = covers(desk.options.roles, seat.role ?? '', role)
        body.push(
          html`<section class="item">
            <h2>${shown}</h2>
            <p>${name !== null && email !== null && html`${email} · `}${roleName(tools, role)}</p>
            ${
              may('member:role') &&
              touchable &&
              (await act('role', [roleChoice(visit, shown, role), submit(say('organizations.save'), { quiet: true })], { userId }))
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
      body.push(await act('invite', [email, roleChoice(visit, '', 'member'), submit(say('organizations.send'))]))
      for (const open of await listInvitations(seat, id))
        body.push(
          html`<section class="item">
            <h3>${open.email}</h3>
            <p>${roleName(tools, open.role)} · ${say('organizations.until', { date: date(open.expires) })}</p>
            ${
              may('invitation:cancel') &&
              (await act('cancel', submit(say('organizations.cancel'), { quiet: true }), { invitation: open.id }))
            }
          </section>`,
        )
      return body
    })
}

async function invitation(desk: Desk, ctx: Context, tools: PageTools, { error }: Params): Promise<PageView> {
  const { html, say, form, submit, link, alert, base } = tools
  const [entry] = await opened.all(ctx)
  const found = entry && (await byToken({ ...desk, ctx, rows: await rowsOf(desk, ctx) }, entry.token))
  const title = say('organizations.invitation')
  if (!found) return { title, body: [alert('InvitationInvalid'), link(say('organizations.manage'), '/organizations')], status: 400 }
  const { row, organization } = found
  const values = { organization: organization.name, email: row.email }
  const lead = say('organizations.invited', values)
  const user = await visitorOf(ctx)
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
  return { title, lead, body: [alert(error), accept, decline], ...failed(error) }
}
