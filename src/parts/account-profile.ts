/** Name, picture and the custom fields that the server lets users change. */
import { reloadSection, type Section } from './sections.ts'
import { drawButton, drawForm, drawSection, type FieldSpec } from './view.ts'

interface Profile {
  readonly name: string | null
  readonly email: string | null
  readonly image: string | null
  readonly emailVerified: boolean
  readonly editable: readonly string[]
  readonly [field: string]: unknown
}

/** A form with one field for each editable one. */
export const profileSection: Section<Profile> = {
  id: 'profile',
  load: (machine) => machine.call('profile', 'get'),
  draw(machine, profile) {
    const { say } = machine
    const open = machine.get().opened === 'profile'
    const fields = profile.editable.filter((field) => typeof (profile[field] ?? '') === 'string')
    return [
      drawSection(machine, {
        id: 'profile',
        title: profile.name ?? profile.email ?? say('profile.title'),
        text: [profile.name && profile.email, profile.email && say(profile.emailVerified ? 'profile.verified' : 'profile.unverified')]
          .filter(Boolean)
          .join(' · '),
        actions: [
          !open &&
            fields.length > 0 &&
            drawButton(machine, { action: 'edit-profile', text: say('profile.edit'), run: () => machine.open('profile') }),
        ],
        body: [
          open &&
            drawForm(machine, {
              action: 'profile',
              label: say('profile.title'),
              attributes: { 'data-opened': 'profile' },
              fields: fields.map((name): FieldSpec => {
                const known = `label.${name}` as const
                const label = say(known)
                return {
                  name,
                  label: label === known ? name : label,
                  type: name === 'image' ? 'url' : 'text',
                  value: (profile[name] as string | null) ?? '',
                  attributes: { autocomplete: name === 'name' ? 'name' : 'off', maxlength: name === 'name' ? 200 : 2048 },
                }
              }),
              submit: say('save'),
              cancel: () => machine.open(undefined),
              async run(values) {
                await machine.call(
                  'profile',
                  'update',
                  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === '' ? null : value])),
                )
                await Promise.all([reloadSection(machine, profileSection as Section), machine.page.store.refresh()])
                machine.open(undefined)
                machine.set({ note: say('saved') })
              },
            }),
        ],
      }),
    ]
  },
}
