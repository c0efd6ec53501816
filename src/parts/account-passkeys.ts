/** Passkeys: add, name, remove, with what the server knows of each. */
import { formatAgo, formatDate } from './format.ts'
import { AuthClientError } from 'authkernel/client'
import type { Machine } from './machine.ts'
import { el, type PartNode } from './node.ts'
import { reloadSection, type Section, type SectionData } from './sections.ts'
import { drawAction, drawButton, drawConfirmation, drawDialog, drawForm, drawRows, drawSection, rowId } from './view.ts'

interface Passkey {
  readonly id: string
  readonly name: string | null
  readonly authenticator: string | null
  readonly synced: boolean
  readonly created: string | null
  readonly lastUsed: string | null
}

/** Passkeys of the user, the newest first. */
export const passkeysSection: Section<readonly Passkey[]> = {
  id: 'passkeys',
  load: (machine) => machine.call('passkeys', 'list'),
  draw(machine, passkeys) {
    const { say } = machine
    return [
      drawSection(machine, {
        id: 'passkeys',
        title: say('passkeys.title'),
        text: say('passkeys.text'),
        actions: drawAction(machine, {
          action: 'add-passkey',
          text: say('passkey.add'),
          async run() {
            await machine.call('passkeys', 'add')
            await reloadSection(machine, passkeysSection as Section)
            machine.set({ note: say('passkey.added') })
          },
        }),
        body: [
          passkeys.length === 0
            ? el('p', { key: 'empty', 'data-empty': true }, say('passkeys.none'))
            : drawRows(
                machine,
                passkeys.map(({ id, name, authenticator, synced, created, lastUsed }) => ({
                  id,
                  title: name ?? authenticator ?? say('passkey'),
                  tags: [say(synced ? 'passkeys.synced' : 'passkeys.device')],
                  text: [
                    created && say('keys.created', { date: formatDate(machine, created) }),
                    lastUsed && say('keys.used', { when: formatAgo(machine, lastUsed) }),
                  ]
                    .filter(Boolean)
                    .join(' · '),
                  actions: (['rename', 'remove'] as const).map((act) =>
                    drawButton(machine, {
                      action: `${act}-passkey-${id}`,
                      text: say(act === 'rename' ? 'passkeys.rename' : 'remove'),
                      attributes: { 'aria-describedby': rowId(machine, id) },
                      run: () => machine.open(`${act}-passkey-${id}`),
                    }),
                  ),
                })),
              ),
          passkeys.map((passkey) => [drawRename(machine, passkey), drawRemoval(machine, passkey)]),
        ],
      }),
    ]
  },
}

function drawRename(machine: Machine<SectionData>, { id, name }: Passkey): PartNode | undefined {
  const { say } = machine
  return drawDialog(machine, {
    name: `rename-passkey-${id}`,
    title: say('passkeys.renameTitle'),
    body: [
      drawForm(machine, {
        action: `rename-${id}`,
        fields: [
          { name: 'name', label: say('name'), value: name ?? '', attributes: { required: true, maxlength: 100, autocomplete: 'off' } },
        ],
        submit: say('save'),
        cancel: () => machine.open(undefined),
        async run({ name: wanted = '' }) {
          try {
            await machine.call('passkeys', 'rename', { id, name: wanted })
          } catch (error) {
            if (!(error instanceof AuthClientError) || error.status !== 400) throw error
            return { field: 'name', text: say('error.invalid') }
          }
          machine.open(undefined)
          await reloadSection(machine, passkeysSection as Section)
          machine.set({ note: say('saved') })
          return undefined
        },
      }),
    ],
  })
}

function drawRemoval(machine: Machine<SectionData>, { id, name, authenticator }: Passkey): PartNode | undefined {
  const { say } = machine
  const dialog = `remove-passkey-${id}`
  return drawConfirmation(machine, {
    name: dialog,
    title: say('passkeys.removeTitle', { name: name ?? authenticator ?? say('passkey') }),
    text: say('methods.disconnectText'),
    label: say('remove'),
    run: () => machine.call('passkeys', 'remove', { id }),
    async reload() {
      await reloadSection(machine, passkeysSection as Section)
      machine.set({ note: say('done') })
    },
  })
}
