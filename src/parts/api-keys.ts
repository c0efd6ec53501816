/** The API keys of the user who is signed in: make one, replace one, end one. The text of a key is shown once. */
import type { PageClient } from 'authkernel/client'
import { formatAgo, formatDate } from './format.ts'
import type { Machine, PartInstance, PartProps } from './machine.ts'
import { el, type PartNode } from './node.ts'
import { createSections, reloadSection, type Section, type SectionData } from './sections.ts'
import { drawAction, drawButton, drawConfirmation, drawForm, drawRows, drawSection, rowId } from './view.ts'

/** Properties of `ApiKeys`. */
export interface ApiKeysProps extends PartProps {}
interface ApiKey {
  readonly id: string
  readonly name: string
  readonly shown: string
  readonly scopes: readonly string[]
  readonly created: string
  readonly expires: string | null
  readonly lastUsed: string | null
  readonly rotated: boolean
}
interface KeysData {
  readonly keys: readonly ApiKey[]
  readonly scopes: readonly string[] | null
  readonly maxAge: number | null
  /** The text of a new key, until it was put away. */
  readonly text?: string | undefined
}

const day = 86_400
const lives = [30, 90, 365]

/** An `ApiKeys` on a page. */
export function createApiKeys(page: PageClient, id: string, readProps: () => ApiKeysProps): PartInstance<ApiKeysProps> {
  return createSections(page, id, readProps, 'api-keys', async () => [keysSection as Section])
}

const keysSection: Section<KeysData> = {
  id: 'keys',
  async load(machine) {
    if (!machine.hasMethod('apiKeys', 'list')) return undefined
    const [keys, choices] = await Promise.all([
      machine.call<ApiKey[]>('apiKeys', 'list'),
      machine.call<{ scopes: string[] | null; maxAge: number | null }>('apiKeys', 'getChoices'),
    ])
    return { keys, ...choices }
  },
  draw(machine, data) {
    const { say } = machine
    const { keys, text } = data
    const open = machine.get().opened === 'create-key'
    return [
      drawSection(machine, {
        id: 'keys',
        title: say('keys.title'),
        text: say('keys.text'),
        actions: [
          !open &&
            drawButton(machine, { action: 'open-key', tone: 'primary', text: say('keys.create'), run: () => machine.open('create-key') }),
        ],
        body: [
          text !== undefined && drawText(machine, data, text),
          open && drawNewKey(machine, data),
          keys.length === 0 ? el('p', { key: 'empty', 'data-empty': true }, say('keys.none')) : drawKeys(machine, data),
          keys.map((key) => drawRevocation(machine, key)),
        ],
      }),
    ]
  },
}

function drawKeys(machine: Machine<SectionData>, { keys }: KeysData): PartNode {
  const { say } = machine
  return drawRows(
    machine,
    keys.map(({ id, name, shown, scopes, created, expires, lastUsed, rotated }) => ({
      id,
      title: name,
      tags: scopes,
      text: [
        shown,
        say('keys.created', { date: formatDate(machine, created) }),
        lastUsed && say('keys.used', { when: formatAgo(machine, lastUsed) }),
        expires && say('keys.expires', { date: formatDate(machine, expires) }),
      ]
        .filter(Boolean)
        .join(' · '),
      actions: [
        ...(rotated
          ? []
          : drawAction(machine, {
              action: `rotate-${id}`,
              text: say('keys.rotate'),
              attributes: { 'aria-describedby': rowId(machine, id) },
              run: async () => showKey(machine, await machine.call('apiKeys', 'rotate', { id })),
            })),
        drawButton(machine, {
          action: `revoke-${id}`,
          text: say('keys.revoke'),
          attributes: { 'aria-describedby': rowId(machine, id) },
          run: () => machine.open(`revoke-${id}`),
        }),
      ],
    })),
  )
}

function drawNewKey(machine: Machine<SectionData>, { scopes, maxAge }: KeysData): PartNode {
  const { say } = machine
  const days = lives.filter((count) => maxAge === null || count * day <= maxAge)
  return drawForm(machine, {
    action: 'create-key',
    label: say('keys.create'),
    attributes: { 'data-opened': 'create-key' },
    fields: [
      { name: 'name', label: say('keys.name'), attributes: { required: true, maxlength: 100, autocomplete: 'off' } },
      ...(scopes ?? []).map((scope) => ({ name: `scope:${scope}`, label: scope, type: 'checkbox', value: scope })),
      {
        name: 'days',
        label: say('keys.life'),
        value: String(days[0] ?? ''),
        options: [
          ...days.map((count) => [String(count), say('keys.days', { days: count })] as const),
          ['', say(maxAge === null ? 'keys.endless' : 'keys.longest')] as const,
        ],
      },
    ],
    submit: say('keys.create'),
    cancel: () => machine.open(undefined),
    async run({ name = '', days: chosen, ...values }) {
      const wanted = Object.entries(values).flatMap(([field, value]) => (field.startsWith('scope:') ? [value] : []))
      const key = await machine.call<{ key: string }>('apiKeys', 'create', {
        name,
        ...(scopes && { scopes: wanted }),
        ...(chosen && { expiresIn: Number(chosen) * day }),
      })
      machine.open(undefined)
      await showKey(machine, key)
    },
  })
}

async function showKey(machine: Machine<SectionData>, { key }: { key: string }): Promise<void> {
  await reloadSection(machine, keysSection as Section)
  const data = machine.get().data?.['keys'] as KeysData
  machine.setData({ keys: { ...data, text: key } })
}

function drawText(machine: Machine<SectionData>, data: KeysData, text: string): PartNode {
  const { say } = machine
  return el('div', { key: 'text', 'data-once': true, role: 'group', 'aria-label': say('keys.once') }, [
    el('p', {}, say('keys.once')),
    el('code', {}, text),
    el('div', { 'data-buttons': true }, [
      drawAction(machine, {
        action: 'copy-key',
        text: say('copy'),
        async run() {
          await navigator.clipboard.writeText(text)
          machine.set({ note: say('copied') })
        },
      }),
      drawButton(machine, {
        action: 'close-key',
        tone: 'quiet',
        text: say('keys.kept'),
        run: () => machine.setData({ keys: { ...data, text: undefined } }),
      }),
    ]),
  ])
}

function drawRevocation(machine: Machine<SectionData>, { id, name }: ApiKey): PartNode | undefined {
  const { say } = machine
  return drawConfirmation(machine, {
    name: `revoke-${id}`,
    title: say('keys.revokeTitle', { name }),
    text: say('keys.revokeText'),
    label: say('keys.revoke'),
    run: () => machine.call('apiKeys', 'revoke', { id }),
    async reload() {
      await reloadSection(machine, keysSection as Section)
      machine.set({ note: say('done') })
    },
  })
}
