/** The roles of an organization, and the form for those that its members make. */
import type { Content, Kernel, PageDraw, PageTools } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'
import { listRoles, type OrganizationRole } from './custom-roles.ts'
import { drawOrganizationPage, nameOfRole, type Visit } from './pages-frame.ts'

/** Adds `GET /organizations/roles?organization=<id>&role=<role>`. */
export function addRolePages(kernel: Kernel, plugin: PluginInstance): void {
  kernel.page('organizationRoles', rolesPage(plugin), { path: '/organizations/roles' })
}

function rolesPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'roles' }, async (visit) => {
      const roles = await listRoles(visit.membership, visit.membership.organization.id)
      const chosen = roles.find(({ role, custom }) => custom && role === params['role'])
      if (chosen && visit.may('role:update') && visit.covers(chosen.role)) return drawOne(visit, chosen)
      return [drawList(visit, roles), visit.may('role:create') && (await drawNew(visit))]
    })
}

function drawList({ tools, may, covers, to }: Visit, roles: readonly OrganizationRole[]): Content {
  const { html, say, card, table, tag, base } = tools
  return card({
    title: say('organizations.roles'),
    text: say('organizations.roles.lead'),
    body: table({
      label: say('organizations.roles'),
      path: '/organizations/roles',
      columns: [{ title: say('organizations.role') }, { title: say('organizations.permissions') }],
      rows: roles.map((role) => [
        role.custom && may('role:update') && covers(role.role)
          ? html`<a href="${base}${to('roles', { role: role.role })}">${nameOfRole(tools, role)}</a>`
          : html`${nameOfRole(tools, role)} ${!role.custom && tag(say('organizations.role.built-in'))}`,
        role.permissions.length === 0 ? '–' : role.permissions.map((one, at) => [at > 0 && ', ', nameOfPermission(tools, one)]),
      ]),
    }),
  })
}

async function drawNew(visit: Visit): Promise<Content> {
  const { say, card, submit } = visit.tools
  return card({
    title: say('organizations.role.create'),
    body: await visit.act('role.create', [drawFields(visit), submit(say('organizations.role.create'))]),
  })
}

async function drawOne(visit: Visit, one: OrganizationRole): Promise<Content[]> {
  const { say, card, submit, button, buttonLink } = visit.tools
  const { role, title } = one
  return [
    card({
      title: title ?? role,
      text: say('organizations.role.at-once'),
      body: await visit.act('role.update', [drawFields(visit, one), submit(say('organizations.save'))], { role }),
    }),
    visit.may('role:delete') &&
      card({
        title: say('organizations.role.delete'),
        text: say('organizations.role.delete.lead'),
        danger: true,
        body: await visit.act('role.delete', button(say('organizations.role.delete'), { tone: 'danger' }), { role }),
      }),
    buttonLink(say('organizations.back'), visit.to('roles'), { tone: 'quiet' }),
  ]
}

/** A title, and a box for each permission that the user has. */
function drawFields({ tools, membership, may }: Visit, one?: OrganizationRole): Content {
  const { html, say, field, typed } = tools
  const act = one ? 'role.update' : 'role.create'
  const title = typed('title', act)
  const isTicked = (permission: string): boolean =>
    title === undefined ? one?.permissions.includes(permission) === true : typed(`permission.${permission}`, act) !== undefined
  const choices = [...membership.options.all].filter(
    (permission) => permission !== 'organization:delete' && permission !== 'organization:transfer' && may(permission),
  )
  return [
    field(
      'title',
      { label: 'organizations.name', type: 'text', required: true, maxlength: 100, value: title ?? one?.title ?? undefined },
      'role',
    ),
    html`<fieldset>
      <legend>${say('organizations.permissions')}</legend>
      ${choices.map(
        (permission) =>
          html`<label class="check"
            ><input type="checkbox" name="permission.${permission}" value="yes" ${isTicked(permission) ? html`checked` : html``} />
            <span>${nameOfPermission(tools, permission)}</span></label
          >`,
      )}
    </fieldset>`,
  ]
}

/** Its text, or its name for one of the host without a text. */
function nameOfPermission({ say }: PageTools, permission: string): Content {
  return say(`organizations.permission.${permission}`) || permission
}
