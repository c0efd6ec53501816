/** The user's own data: a file with all of it, and the end of the account. */
import { el } from './node.ts'
import type { Section } from './sections.ts'
import { drawAction, drawButton, drawDialog, drawSection } from './view.ts'

/** Two actions, each after a fresh proof. */
export const dataSection: Section<object> = {
  id: 'data',
  load: async () => ({}),
  draw(machine) {
    const { say } = machine
    return [
      drawSection(machine, {
        id: 'data',
        title: say('data.title'),
        text: say('data.text'),
        actions: drawAction(machine, {
          action: 'export',
          text: say('data.export'),
          async run() {
            saveFile('my-data.json', JSON.stringify(await machine.call('user', 'export'), undefined, 2))
            machine.set({ note: say('done') })
          },
        }),
      }),
      drawSection(machine, {
        id: 'delete',
        title: say('delete.title'),
        text: say('delete.text'),
        actions: [drawButton(machine, { action: 'delete', tone: 'danger', text: say('delete.title'), run: () => machine.open('delete') })],
        body: [
          drawDialog(machine, {
            name: 'delete',
            title: say('delete.title'),
            text: say('delete.text'),
            body: [
              el('div', { 'data-buttons': true }, [
                drawAction(machine, {
                  action: 'delete-yes',
                  tone: 'danger',
                  text: say('delete.confirm'),
                  async run() {
                    await machine.call('user', 'delete')
                    await machine.page.store.refresh()
                  },
                }),
                drawButton(machine, { action: 'keep', tone: 'quiet', text: say('cancel'), run: () => machine.open(undefined) }),
              ]),
            ],
          }),
        ],
      }),
    ]
  },
}

function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}
