/** Name and address of an organization, leaving and deleting it. */
import type { Section } from './sections.ts'
import { type OrganizationView, roleName } from './organization-members.ts'
import { drawButton, drawConfirmation, drawForm, drawSection } from './view.ts'

/** What the page says where the user acts for no organization. */
export const noOrganization: Section = {
  id: 'none',
  load: async () => ({}),
  draw: (machine) => [
    drawSection(machine, { id: 'none', title: machine.say('organizations.none'), text: machine.say('organizations.noneText') }),
  ],
}

/** The settings of one organization. */
export function settingsSection(organization: OrganizationView): Section<{ name: string; slug: string }> {
  const { id, role, permissions } = organization
  const section: Section<{ name: string; slug: string }> = {
    id: 'settings',
    load: async () => ({ name: organization.name, slug: organization.slug }),
    draw(machine, { name, slug }) {
      const { say } = machine
      const open = machine.get().opened === 'settings'
      const ask = (action: 'leave' | 'delete'): ReturnType<typeof drawConfirmation> =>
        drawConfirmation(machine, {
          name: `organization-${action}`,
          title: say(`organizations.${action}Title`, { name }),
          text: say(`organizations.${action}Text`),
          label: say(`organizations.${action}`),
          run: () => machine.call('organizations', action, { organization: id }),
          async reload() {
            await machine.page.store.refresh()
            await machine.reload()
          },
        })
      return [
        drawSection(machine, {
          id: 'settings',
          title: name,
          text: roleName(machine, role),
          actions: [
            permissions['organization:update'] &&
              !open &&
              drawButton(machine, { action: 'edit-organization', text: say('profile.edit'), run: () => machine.open('settings') }),
            drawButton(machine, {
              action: 'organization-leave',
              text: say('organizations.leave'),
              run: () => machine.open('organization-leave'),
            }),
            permissions['organization:delete'] &&
              drawButton(machine, {
                action: 'organization-delete',
                tone: 'danger',
                text: say('organizations.delete'),
                run: () => machine.open('organization-delete'),
              }),
          ],
          body: [
            open &&
              drawForm(machine, {
                action: 'settings',
                label: say('organizations.settings'),
                attributes: { 'data-opened': 'settings' },
                fields: [
                  {
                    name: 'name',
                    label: say('organizations.name'),
                    value: name,
                    attributes: { required: true, maxlength: 100, autocomplete: 'organization' },
                  },
                  {
                    name: 'slug',
                    label: say('organizations.slug'),
                    value: slug,
                    hint: say('organizations.slugHint'),
                    attributes: { required: true, maxlength: 48, autocapitalize: 'none', spellcheck: 'false' },
                  },
                ],
                submit: say('save'),
                cancel: () => machine.open(undefined),
                async run(values) {
                  const changed = await machine.call<{ name: string; slug: string }>('organizations', 'update', {
                    organization: id,
                    ...values,
                  })
                  machine.open(undefined)
                  machine.setData({ settings: { name: changed.name, slug: changed.slug } })
                  machine.set({ note: say('saved') })
                },
              }),
            ask('leave'),
            ask('delete'),
          ],
        }),
      ]
    },
  }
  return section
}
