/** Attributes and roles: which attribute is what, with a preview of the last test. */
import type { Content } from 'authkernel/kernel'
import type { Connection } from 'authkernel/plugins/sso'
import type { PortalPage } from './sections.ts'
import { ssoOf } from './sso.ts'

/** Empty fields leave the usual names. */
export async function drawAttributes(page: PortalPage, connection: Connection): Promise<Content> {
  const { tools, form, typed } = page
  const { say, card, field, submit, html } = tools
  const { id, mapping, roles, used } = connection
  const names = (['email', 'name', 'groups', 'id'] as const).map((name) =>
    field(`map.${name}`, {
      label: `portal.map.${name}`,
      type: 'text',
      maxlength: 255,
      value: typed(`map.${name}`, mapping[name] ?? ''),
      // Accounts rest on it.
      ...(name === 'id' && used && { readonly: true }),
    }),
  )
  const groups = Object.entries(roles.groups ?? {})
    .map(([group, role]) => `${group} = ${role}`)
    .join('\n')
  const all = await page.ctx.service('organizations').listRoles(page.ctx, page.organization.id)
  const known = all.filter((role) => role !== 'owner')
  return card({
    id: 'attributes',
    title: say('portal.attributes'),
    text: say('portal.attributes.lead'),
    body: [
      await drawPreview(page),
      await form(
        'mapping',
        [
          names,
          html`<div class="field">
            <label class="section-header" for="groups-${id}">${say('portal.roles.groups')}</label
            ><textarea name="role.groups" id="groups-${id}" rows="4" spellcheck="false" placeholder="engineering = member">
${typed('role.groups', groups)}</textarea>
          </div>`,
          html`<p class="note">${say('portal.roles.known', { roles: known.join(', ') })}</p>`,
          field('role.default', {
            label: 'portal.roles.default',
            type: 'text',
            maxlength: 32,
            placeholder: 'member',
            value: typed('role.default', roles.default ?? ''),
          }),
          html`<label class="check"
            ><input type="checkbox" name="role.sync" value="yes" ${roles.sync === true ? html`checked` : html``} />
            <span>${say('portal.roles.sync')}</span></label
          >`,
          submit(say('portal.save')),
        ],
        { connection: id },
      ),
    ],
  })
}

/** What the last test sign-in would give with the mapping as it is. */
async function drawPreview(page: PortalPage): Promise<Content> {
  const { say, facts, html } = page.tools
  const trial = page.params['trial'] === undefined ? null : await ssoOf(page)?.getTrial(page.params['trial'])
  const attributes = trial?.report?.attributes ?? {}
  if (!trial || Object.keys(attributes).length === 0) return html`<p class="note">${say('portal.preview.none')}</p>`
  const { email, name, groups, role } = await ssoOf(page)!.preview(trial.connectionId, attributes)
  return [
    html`<h3>${say('portal.preview')}</h3>`,
    facts([
      [say('portal.preview.email'), email],
      [say('portal.preview.name'), name],
      [say('portal.preview.groups'), groups.join(', ')],
      [say('portal.role'), role],
    ]),
  ]
}
