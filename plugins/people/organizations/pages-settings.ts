/** What happened in an organization, its name, logo and fields, and its end. */
import type { Content, Kernel, PageDraw } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'
import { listHistory, type OrganizationEvent } from './history.ts'
import { drawOrganizationPage, listRoleNames, type Visit } from './pages-frame.ts'

/** Adds the pages. */
export function addSettingsPages(kernel: Kernel, plugin: PluginInstance): void {
  kernel.page('organizationSettings', settingsPage(plugin), { path: '/organizations/settings' })
  kernel.page('organizationHistory', historyPage(plugin), { path: '/organizations/history' })
}

/** `GET /organizations/settings?organization=<id>`. */
function settingsPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'settings' }, async (visit) => {
      const { say, card, field, submit, button, typed } = tools
      const { membership, may, act } = visit
      const { name, image } = membership.organization
      const body: Content[] = []
      if (may('organization:update')) {
        const [newName, newImage] = [typed('name', 'update') ?? name, typed('image', 'update') ?? image ?? '']
        const text = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100, value: newName }, 'rename')
        const logo = field('image', { label: 'organizations.logo', type: 'text', maxlength: 2000, value: newImage }, 'rename')
        body.push(
          card({
            title: say('organizations.settings'),
            body: await act('update', [text, logo, drawFields(visit), submit(say('organizations.save'))], { fields: '1' }),
          }),
        )
      }
      if (may('organization:delete')) {
        const confirmation = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100 }, 'delete')
        body.push(
          card({
            title: say('organizations.delete'),
            text: say('organizations.delete.lead', { name }),
            danger: true,
            body: await act('delete', [confirmation, button(say('organizations.delete'), { tone: 'danger' })]),
          }),
        )
      }
      return body
    })
}

/** Fields of the host that members may change; a text `organizations.field.<name>` names one, else its own name does. */
function drawFields({ tools, membership }: Visit): Content[] {
  const { html, say, field, typed } = tools
  const values = membership.organization.own ?? {}
  return Object.entries(membership.options.fields).map(([name, { type, max = 200, editable = true }]) => {
    if (!editable) return undefined
    const key = `organizations.field.${name}`
    const label = say(key) === '' ? name : key
    if (type === 'boolean')
      return html`<label class="check"
        ><input type="checkbox" name="field.${name}" value="yes" ${values[name] === true ? html`checked` : html``} />
        <span>${say(key) || name}</span></label
      >`
    const attributes = type === 'number' ? { type: 'number', step: 'any' } : { type: 'text', maxlength: max }
    return field(`field.${name}`, { label, ...attributes, value: typed(`field.${name}`, 'update') ?? String(values[name] ?? '') }, 'fields')
  })
}

/** `GET /organizations/history?organization=<id>`. */
function historyPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'history' }, async (visit) => {
      const { say, card, table, moment, emptyState } = tools
      const { organization: id = '', cursor } = params
      const page = await listHistory(visit.membership, id, { cursor })
      const names = visit.may('member:read') ? new Map(await listRoleNames(visit)) : new Map<string, Content>()
      const named = (one: OrganizationEvent['by']): Content => one?.name ?? one?.id ?? '–'
      return [
        card({
          title: say('organizations.history'),
          text: say('organizations.history.lead', { days: String(visit.membership.options.history) }),
          body: table({
            label: say('organizations.history'),
            path: '/organizations/history',
            query: { organization: id },
            columns: [
              { title: say('organizations.when') },
              { title: say('organizations.what') },
              { title: say('organizations.by') },
              { title: say('organizations.about') },
            ],
            rows: page.events.map(({ at, act, by, user, role, id: thing }) => [
              moment(at),
              say(`organizations.act.${act}`) || act,
              by === null ? say('organizations.system') : named(by),
              // Of a domain the name is the id.
              [
                act.startsWith('domain.') && thing,
                user !== null && named(user),
                role !== null && [user !== null && ' · ', names.get(role) ?? role],
              ],
            ]),
            empty: emptyState({ title: say('organizations.history.empty') }),
            ...(page.cursor !== undefined && { next: { cursor: page.cursor } }),
          }),
        }),
      ]
    })
}
