/** The members of an organization in a table, one member, and invitations. */
import type { Content, Kernel, PageDraw } from 'authkernel/kernel'
import { findMembershipRow, type PluginInstance } from './actor.ts'
import type { BulkLine } from './bulk-invitations.ts'
import { NoSuchOrganization } from './errors.ts'
import { listInvitations } from './invitations.ts'
import { findUsers, listMembers, type Member } from './member-list.ts'
import { drawOrganizationPage, drawRoleChoice, listRoleNames, type Visit } from './pages-frame.ts'
import { heldRoles } from './roles.ts'

/** Adds the pages. */
export function addMemberPages(kernel: Kernel, plugin: PluginInstance): void {
  kernel.page('organizationMembers', membersPage(plugin), { path: '/organizations/members' })
  kernel.page('organizationMember', memberPage(plugin), { path: '/organizations/member' })
  kernel.page('organizationInvited', invitedPage(plugin))
}

/** `GET /organizations/members?organization=<id>&q=<text>&role=<role>`. */
function membersPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'members' }, async (visit) => {
      const { say, card, table } = tools
      const { organization: id = '', cursor, q = '', role = '' } = params
      const names = new Map(await listRoleNames(visit))
      const search = { text: q.slice(0, 100), ...(names.has(role) && { role }) }
      const page = await listMembers(visit.membership, id, { ...search, cursor })
      const list = card({
        title: say('organizations.members'),
        body: table({
          label: say('organizations.members'),
          path: '/organizations/members',
          query: { organization: id, q, role },
          search: { label: say('organizations.search'), value: q },
          filters: [
            { name: 'role', label: say('organizations.role'), value: role, options: [['', say('organizations.all-roles')], ...names] },
          ],
          columns: [
            { title: say('organizations.member') },
            { title: say('organizations.role') },
            { title: say('organizations.joined') },
            { title: say('organizations.seen') },
          ],
          rows: page.members.map((member) => drawMember(visit, member, names)),
          ...(cursor !== undefined && { previous: {} }),
          ...(page.cursor !== undefined && { next: { cursor: page.cursor } }),
        }),
      })
      return [list, ...(visit.may('invitation:create') ? await drawInvitations(visit, names) : [])]
    })
}

function drawMember({ tools, to }: Visit, member: Member, names: ReadonlyMap<string, Content>): Content[] {
  const { html, say, avatar, moment, tag, base } = tools
  const { userId, name, email, image, roles, joined, suspended, seen } = member
  return [
    html`<span class="ui-who"
      >${avatar({ name: name ?? email ?? userId, picture: image })}
      <a href="${base}${to('member', { userId })}"><bdi>${name ?? email ?? userId}</bdi></a></span
    >`,
    html`${roles.map((role, at) => [at > 0 && ', ', names.get(role) ?? role])}
    ${suspended !== null && tag(say('organizations.suspended'), 'warn')}`,
    moment(joined),
    seen ? moment(seen) : say('organizations.never'),
  ]
}

async function drawInvitations(visit: Visit, names: ReadonlyMap<string, Content>): Promise<Content[]> {
  const { membership, tools, may, act } = visit
  const { html, say, card, row, field, submit, date, button, typed } = tools
  const email = field('email', { label: 'Email', type: 'email', required: true, maxlength: 254, value: typed('email', 'invite') })
  const open = await listInvitations(membership, membership.organization.id)
  const rows = open.map(async ({ id, email: to, role, expires }) =>
    row({
      id: `invitation-${id}`,
      title: html`<bdi>${to}</bdi>`,
      text: [names.get(role) ?? role, say('organizations.until', { date: date(expires) })],
      actions:
        may('invitation:cancel') &&
        (await act('cancel', button(say('organizations.cancel'), { tone: 'danger', describedBy: `invitation-${id}` }), { invitation: id })),
    }),
  )
  return [
    card({
      title: say('organizations.invite'),
      body: await act('invite', [
        email,
        await drawRoleChoice(visit, typed('role', 'invite') ?? 'member', { key: 'invite' }),
        submit(say('organizations.send')),
      ]),
    }),
    card({
      title: say('organizations.invite-many'),
      text: say('organizations.invite-many.lead'),
      body: await act('invite.many', [
        drawLines(visit, typed('text', 'invite.many') ?? ''),
        await drawRoleChoice(visit, typed('role', 'invite.many') ?? 'member', { key: 'many' }),
        submit(say('organizations.send-all'), { quiet: true }),
      ]),
    }),
    open.length > 0 && card({ title: say('organizations.invitations'), body: await Promise.all(rows) }),
  ]
}

function drawLines({ tools: { html, say } }: Visit, text: string): Content {
  return html`<div class="field">
    <label class="section-header" for="invitation-lines">${say('organizations.lines')}</label>
    <textarea id="invitation-lines" name="text" rows="5" maxlength="20000" required>${text}</textarea>
  </div>`
}

/** What became of each line; those that failed can be corrected and sent again. The answer to a form: `results` is what `inviteMany` said. */
function invitedPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'members' }, async (visit) => {
      const { html, say, card, table, tag, submit } = tools
      // Written by the route, not by the browser.
      const lines = JSON.parse(params['results'] ?? '[]') as BulkLine[]
      const failed = lines.filter(({ error }) => error !== null)
      const again = failed
        .filter(({ error }) => error !== 'AlreadyInvited')
        .map(({ email, role }) => (role === null ? email : `${email},${role}`))
        .join('\n')
      return [
        card({
          title: say('organizations.invite-many'),
          text: say('organizations.invited-many', { count: String(lines.length - failed.length), failed: String(failed.length) }),
          body: table({
            label: say('organizations.invite-many'),
            path: '/organizations/members',
            columns: [{ title: say('organizations.line') }, { title: 'Email' }, { title: say('organizations.result') }],
            rows: lines.map(({ line, email, error }) => [
              String(line),
              html`<bdi>${email}</bdi>`,
              error === null
                ? tag(say('organizations.sent'), 'ok')
                : html`${tag(say('organizations.failed'), 'danger')} ${say(`error.${error}`)}`,
            ]),
          }),
        }),
        again !== '' &&
          card({
            title: say('organizations.again'),
            body: await visit.act('invite.many', [
              drawLines(visit, again),
              await drawRoleChoice(visit, 'member', { key: 'many' }),
              submit(say('organizations.send-all')),
            ]),
          }),
      ]
    })
}

/** `GET /organizations/member?organization=<id>&userId=<id>`: what a member is, and what may be done with the membership. */
function memberPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'members' }, async (visit) => {
      const { say, card, facts, avatar, moment, button, tag } = tools
      const { membership, may, covers, act, to } = visit
      const { userId = '' } = params
      const self = userId === membership.user?.id
      const row = self || may('member:read') ? await findMembershipRow(membership.rows, membership.organization.id, userId) : null
      if (!row) throw new NoSuchOrganization('organizations: the user is no member.')
      const { name, email, image } = (await findUsers(membership, [userId])).get(userId) ?? {}
      const held = heldRoles(row)
      const touchable = held.every(covers)
      const shown = name ?? email ?? userId
      const isSuspended = row.suspended !== null
      const mayRemove = may('member:remove') && touchable
      return [
        card({
          title: shown,
          picture: avatar({ name: shown, picture: image }),
          tags: isSuspended && tag(say('organizations.suspended'), 'warn'),
          actions:
            mayRemove &&
            (await act(isSuspended ? 'restore' : 'suspend', button(say(`organizations.${isSuspended ? 'restore' : 'suspend'}`)), {
              userId,
            })),
          body: facts([
            ['Email', email],
            [say('organizations.joined'), moment(row.joined)],
            [say('organizations.seen'), row.seen ? moment(row.seen) : say('organizations.never')],
          ]),
        }),
        may('member:role') && touchable && (await drawRoles(visit, userId, held)),
        !self && may('organization:transfer') && held[0] !== 'owner' && !isSuspended && (await drawTransfer(visit, userId, shown)),
        (self || mayRemove) &&
          card({
            title: say(self ? 'organizations.leave' : 'organizations.remove'),
            text: say(self ? 'organizations.leave.lead' : 'organizations.remove.lead'),
            danger: true,
            body: await act(
              self ? 'leave' : 'remove',
              button(say(self ? 'organizations.leave' : 'organizations.remove'), { tone: 'danger' }),
              self ? {} : { userId },
            ),
          }),
        tools.buttonLink(say('organizations.back'), to('members'), { tone: 'quiet' }),
      ]
    })
}

/** One box for each role: a member may have several. */
async function drawRoles(visit: Visit, userId: string, held: readonly string[]): Promise<Content> {
  const { html, say, card, submit } = visit.tools
  const known = (await listRoleNames(visit)).filter(([role]) => visit.covers(role))
  const boxes = known.map(
    ([role, name]) =>
      html`<label class="check"
        ><input type="checkbox" name="role.${role}" value="yes" ${held.includes(role) ? html`checked` : html``} />
        <span>${name}</span></label
      >`,
  )
  return card({
    title: say('organizations.roles'),
    text: say('organizations.roles.several'),
    body: await visit.act('roles', [boxes, submit(say('organizations.save'), { quiet: true })], { userId }),
  })
}

async function drawTransfer(visit: Visit, userId: string, shown: string): Promise<Content> {
  const { say, card, field, button } = visit.tools
  const { name } = visit.membership.organization
  const typed = field(
    'name',
    { label: 'organizations.name', type: 'text', required: true, maxlength: 100, autocomplete: 'off' },
    'transfer',
  )
  return card({
    title: say('organizations.transfer'),
    text: say('organizations.transfer.lead', { user: shown, name }),
    danger: true,
    body: await visit.act('transfer', [typed, button(say('organizations.transfer'), { tone: 'danger' })], { userId }),
  })
}
