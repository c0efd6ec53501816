/** The password: changed with the former one, or set for the first time. */
import { reloadSection, type Section } from './sections.ts'
import { drawButton, drawForm, drawSection } from './view.ts'

interface PasswordData {
  readonly has: boolean
  readonly minLength: number
}

/** A form that stays closed until it is wanted. */
export const passwordSection: Section<PasswordData> = {
  id: 'password',
  async load(machine) {
    const [has, { minLength }] = await Promise.all([
      machine.call<boolean>('passwords', 'hasPassword'),
      machine.call<{ minLength: number }>('passwords', 'getRule'),
    ])
    return { has, minLength }
  },
  draw(machine, { has, minLength }) {
    const { say } = machine
    const title = say(has ? 'password.change' : 'password.set')
    const open = machine.get().opened === 'password'
    return [
      drawSection(machine, {
        id: 'password',
        title: say('password'),
        text: say(has ? 'password.has' : 'password.hasNot'),
        actions: [!open && drawButton(machine, { action: 'edit-password', text: title, run: () => machine.open('password') })],
        body: [
          open &&
            drawForm(machine, {
              action: 'password',
              label: title,
              attributes: { 'data-opened': 'password' },
              fields: [
                ...(has
                  ? [
                      {
                        name: 'current',
                        label: say('password.current'),
                        type: 'password',
                        attributes: { required: true, autocomplete: 'current-password', maxlength: 256 },
                      },
                    ]
                  : []),
                {
                  name: 'password',
                  label: say('password.new'),
                  type: 'password',
                  hint: say('password.rule', { min: minLength }),
                  attributes: { required: true, autocomplete: 'new-password', maxlength: 256 },
                },
              ],
              submit: title,
              cancel: () => machine.open(undefined),
              async run({ current, password = '' }) {
                const { url } = await machine.call<{ url: string }>('passwords', 'change', {
                  password,
                  ...(current !== undefined && { current }),
                })
                machine.open(undefined)
                // Without a fresh proof a link is sent in place of the change.
                machine.set({ note: say(url.includes('/passwords/mailed') ? 'password.mailed' : 'password.saved') })
                await reloadSection(machine, passwordSection as Section)
              },
            }),
        ],
      }),
    ]
  },
}
