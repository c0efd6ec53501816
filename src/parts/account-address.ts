/** Another email address: it counts when the link that is sent to it was opened. */
import type { Section } from './sections.ts'
import { drawButton, drawForm, drawSection } from './view.ts'

/** A form for the new address. */
export const addressSection: Section<{ email: string | null }> = {
  id: 'address',
  load: async (machine) => ({ email: machine.page.store.get().session?.user?.email ?? null }),
  draw(machine, { email }) {
    const { say } = machine
    const open = machine.get().opened === 'address'
    return [
      drawSection(machine, {
        id: 'address',
        title: say('email'),
        text: email ?? say('address.none'),
        actions: [
          !open && drawButton(machine, { action: 'edit-address', text: say('address.change'), run: () => machine.open('address') }),
        ],
        body: [
          open &&
            drawForm(machine, {
              action: 'address',
              label: say('address.change'),
              attributes: { 'data-opened': 'address' },
              fields: [
                {
                  name: 'email',
                  label: say('address.new'),
                  type: 'email',
                  hint: say('address.hint'),
                  attributes: { required: true, autocomplete: 'email', maxlength: 254, spellcheck: 'false' },
                },
              ],
              submit: say('address.change'),
              cancel: () => machine.open(undefined),
              async run({ email: wanted = '' }) {
                await machine.call('address', 'change', { email: wanted })
                machine.open(undefined)
                machine.set({ note: say('address.sent', { email: wanted }) })
              },
            }),
        ],
      }),
    ]
  },
}
