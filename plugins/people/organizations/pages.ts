/** What people see: their organizations, the members of one, and an invitation. None of it needs JavaScript. */
import {
  AuthError,
  type Content,
  type Context,
  createPending,
  type Kernel,
  type PageTools,
  type PageView,
  type PendingList,
} from 'authkernel/kernel'
import { listOwn } from './acts.ts'
import { addressOf } from './address.ts'
import { type Actor, actorOf, type Desk, rowsOf, seatIn, visitorOf } from './desk.ts'
import { byToken, listInvitations } from './invitations.ts'
import { list } from './members.ts'
import { covers, grants } from './roles.ts'

type Params = Readonly<Record<string, string | undefined>>

/** The token of an invitation, from the mail to the button: addresses are written to logs, and travel through the sign-in. */
export const opened: PendingList<{ token: string }> = createPending('organization-invitation', { seconds: 86_400, max: 1 })

/** Adds the pages and the section of the account page. */
export function addPages(kernel: Kernel, desk: Desk): void {
  kernel.page('organizations', (ctx, tools, params) => overview(desk, ctx, tools, params), { path: '/organizations' })
  kernel.page('organizationMembers', (ctx, tools, params) => memberList(desk, ctx, tools, params), { path: '/organizations/members' })
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
    body.push(
      html`<section class="item">
        <h2>${name}</h2>
        <p>${roleName(tools, role)}${here && html` · ${say('organizations.active')}`}</p>
        ${link(say('organizations.members'), `/organizations/members?organization=${encodeURIComponent(id)}`)}
        ${!here && (await form('/organizations', submit(say('organizations.switch'), { quiet: true }), { action: 'active', organization: id }))}
      </section>`,
    )
  }
  const name = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100 })
  body.push(await form('/organizations', [name, submit(say('organizations.create'))], { action: 'create' }))
  return { title: say('organizations.title'), body, ...failed(error) }
}

async function memberList(desk: Desk, ctx: Context, tools: PageTools, params: Params): Promise<PageView | Response> {
  const { html, say, form, field, submit, alert } = tools
  const { organization: id = '', cursor, error, done } = params
  const actor = await visiting(desk, ctx)
  if (!actor) return ctx.page('signIn')
  let found: [Awaited<ReturnType<typeof seatIn>>, Awaited<ReturnType<typeof list>>]
  try {
    found = [await seatIn(actor, id), await list(actor, id, { cursor })]
  } catch (thrown) {
    if (!(thrown instanceof AuthError) || thrown.status >= 500) throw thrown
    return { title: say('organizations.title'), body: alert(thrown.type), status: thrown.status }
  }
  const [seat, page] = found
  const { roles } = desk.options
  const may = (permission: string): boolean => grants(roles, seat.role, permission)
  const own = seat.role ?? ''
  const act = (action: string, body: Content, more: Record<string, string> = {}): Promise<Content> =>
    form('/organizations', body, { action, organization: id, ...more })
  const choice = (name: string, chosen: string): Content =>
    html`<label
      >${say('organizations.role')}
      <select name="role" aria-label="${say('organizations.role')} ${name}">
        ${[...roles.keys()].filter((role) => covers(roles, own, role)).map((role) => option(tools, role, role === chosen))}
      </select></label
    >`
  const body: Content[] = [alert(error), done && html`<p role="status">${say('organizations.done')}</p>`]
  for (const { userId, role, name, email } of page.members) {
    const [self, shown, touchable] = [userId === actor.user?.id, name ?? email ?? userId, covers(roles, own, role)]
    body.push(
      html`<section class="item">
        <h2>${shown}</h2>
        <p>${name !== null && email !== null && html`${email} · `}${roleName(tools, role)}</p>
        ${may('member:role') && touchable && (await act('role', [choice(shown, role), submit(say('organizations.save'), { quiet: true })], { userId }))}
        ${!self && may('member:remove') && touchable && (await act('remove', submit(say('organizations.remove'), { quiet: true }), { userId }))}
        ${self && (await act('leave', submit(say('organizations.leave'), { quiet: true })))}
      </section>`,
    )
  }
  if (page.cursor !== undefined)
    body.push(
      tools.link(
        say('organizations.more'),
        `/organizations/members?${new URLSearchParams({ organization: id, cursor: page.cursor }).toString()}`,
      ),
    )
  if (may('invitation:create')) {
    const email = field('email', { label: 'Email', type: 'email', required: true, maxlength: 254 })
    body.push(html`<h2>${say('organizations.invite')}</h2>`)
    body.push(await act('invite', [email, choice('', 'member'), submit(say('organizations.send'))]))
    for (const open of await listInvitations(actor, id))
      body.push(
        html`<section class="item">
          <h3>${open.email}</h3>
          <p>${roleName(tools, open.role)} · ${say('organizations.until', { date: tools.date(open.expires) })}</p>
          ${may('invitation:cancel') && (await act('cancel', submit(say('organizations.cancel'), { quiet: true }), { invitation: open.id }))}
        </section>`,
      )
  }
  return { title: seat.organization.name, lead: say('organizations.members'), body, ...failed(error) }
}

async function invitation(desk: Desk, ctx: Context, tools: PageTools, { error }: Params): Promise<PageView> {
  const { html, say, form, submit, link, alert, base } = tools
  const [entry] = await opened.all(ctx)
  const found = entry && (await byToken(desk, await rowsOf(desk, ctx), entry.token))
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
  if (addressOf(user.email) !== row.email || !user.emailVerified)
    return {
      title,
      lead,
      body: [html`<p role="alert">${say('organizations.other', values)}</p>`, link(say('organizations.sign-out'), '/signout'), decline],
    }
  const accept = await form('/organizations', submit(say('organizations.accept')), { action: 'accept' })
  return { title, lead, body: [alert(error), accept, decline], ...failed(error) }
}

async function visiting(desk: Desk, ctx: Context): Promise<Actor | null> {
  return (await visitorOf(ctx)) ? actorOf(desk, ctx) : null
}
function option(tools: PageTools, role: string, chosen: boolean): Content {
  const { html } = tools
  return chosen
    ? html`<option value="${role}" selected>${roleName(tools, role)}</option>`
    : html`<option value="${role}">${roleName(tools, role)}</option>`
}
// A host's own role has the text that the host gave it, or its name.
function roleName({ say }: PageTools, role: string): Content {
  return say(`organizations.role.${role}`) || role
}
function failed(error: string | undefined): { status?: number } {
  return error === undefined ? {} : { status: 400 }
}
