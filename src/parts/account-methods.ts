/** Accounts of other services: connect and disconnect. */
import type { Machine } from './machine.ts'
import { type Method, readMethods } from './methods.ts'
import type { PartNode } from './node.ts'
import { reloadSection, type Section, type SectionData } from './sections.ts'
import { drawAction, drawButton, drawConfirmation, drawRows, drawSection, rowId } from './view.ts'

interface Account {
  readonly provider: string
  readonly providerAccountId: string
  readonly type: string
}
interface MethodsData {
  readonly accounts: readonly Account[]
  readonly methods: readonly Method[]
}

/** Rows of what is connected, and of what can be. */
export const methodsSection: Section<MethodsData> = {
  id: 'methods',
  async load(machine) {
    const [accounts, { methods }] = await Promise.all([machine.call<Account[]>('accounts', 'list'), readMethods(machine.page.client)])
    // Passkeys have a section of their own.
    return { accounts: accounts.filter(({ type }) => type !== 'webauthn'), methods }
  },
  draw(machine, { accounts, methods }) {
    const { say } = machine
    const nameOf = ({ provider }: Account): string => methods.find(({ id }) => id === provider)?.name ?? provider
    const offered = methods.filter(
      ({ id, type }) => (type === 'oauth' || type === 'oidc') && !accounts.some(({ provider }) => provider === id),
    )
    return [
      drawSection(machine, {
        id: 'methods',
        title: say('methods.title'),
        text: say('methods.text'),
        body: [
          drawRows(machine, [
            ...accounts.map((account) => ({
              id: keyOf(account),
              title: nameOf(account),
              tags: [say('methods.connected')],
              actions: [
                drawButton(machine, {
                  action: `disconnect-${keyOf(account)}`,
                  text: say('methods.disconnect'),
                  attributes: { 'aria-describedby': rowId(machine, keyOf(account)) },
                  run: () => machine.open(`disconnect-${keyOf(account)}`),
                }),
              ],
            })),
            ...offered.map(({ id, name }) => ({
              id,
              title: name,
              text: say('methods.none'),
              actions: drawAction(machine, {
                action: `connect-${id}`,
                text: say('methods.connect'),
                attributes: { 'aria-describedby': rowId(machine, id), 'data-provider': id },
                async run() {
                  const { pathname, search } = location
                  const { url } = await machine.call<{ url: string }>('accounts', 'link', { provider: id, redirectTo: pathname + search })
                  location.assign(url)
                },
              }),
            })),
          ]),
          accounts.map((account) => drawDisconnect(machine, account, nameOf(account))),
        ],
      }),
    ]
  },
}

function drawDisconnect(machine: Machine<SectionData>, account: Account, name: string): PartNode | undefined {
  const { say } = machine
  const { provider, providerAccountId } = account
  const dialog = `disconnect-${keyOf(account)}`
  return drawConfirmation(machine, {
    name: dialog,
    title: say('methods.disconnectTitle', { name }),
    text: say('methods.disconnectText'),
    label: say('methods.disconnect'),
    run: () => machine.call('accounts', 'unlink', { provider, providerAccountId }),
    async reload() {
      await reloadSection(machine, methodsSection as Section)
      machine.set({ note: say('done') })
    },
  })
}

function keyOf({ provider, providerAccountId }: Account): string {
  return `${provider}-${providerAccountId}`
}
