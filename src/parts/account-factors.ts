/** Two-factor authentication: an authenticator app, backup codes, and what is set up. */
import { formatDate } from './format.ts'
import type { Machine } from './machine.ts'
import { el, type PartNode } from './node.ts'
import { reloadSection, type Section, type SectionData } from './sections.ts'
import { drawAction, drawButton, drawConfirmation, drawForm, drawRows, drawSection, rowId } from './view.ts'

interface Factor {
  readonly id: string
  readonly kind: string
  readonly created: string
}
interface Enrolment {
  readonly id: string
  readonly secret: string
  readonly uri: string
  readonly qr?: { readonly size: number; readonly path: string } | null
}
interface FactorsData {
  readonly factors: readonly Factor[]
  /** An app that waits for its first code. */
  readonly waiting?: Enrolment | undefined
  /** Backup codes, shown once. */
  readonly codes?: readonly string[] | undefined
}

/** Factors, and the steps that add one. */
export const factorsSection: Section<FactorsData> = {
  id: 'factors',
  load: async (machine) => ({ factors: await machine.call<Factor[]>('twoFactor', 'list') }),
  draw(machine, data) {
    const { say } = machine
    const { factors, waiting, codes } = data
    const change = (next: Partial<FactorsData>): void => machine.setData({ factors: { ...data, ...next } })
    return [
      drawSection(machine, {
        id: 'factors',
        title: say('factors.title'),
        text: say(factors.length > 0 ? 'factors.on' : 'factors.off'),
        actions: waiting
          ? []
          : [
              ...drawAction(machine, {
                action: 'add-app',
                text: say('factors.addApp'),
                async run() {
                  change({ waiting: await machine.call<Enrolment>('twoFactor', 'addApp'), codes: undefined })
                  machine.open('confirm-app')
                },
              }),
              ...(factors.length > 0
                ? drawAction(machine, {
                    action: 'renew-codes',
                    text: say('factors.renew'),
                    async run() {
                      change({ codes: (await machine.call<{ codes: string[] }>('twoFactor', 'renewCodes')).codes })
                    },
                  })
                : []),
            ],
        body: [
          factors.length > 0 &&
            drawRows(
              machine,
              factors.map(({ id, kind, created }) => ({
                id,
                title: say(kind === 'totp' ? 'factors.app' : kind === 'passkey' ? 'passkey' : 'factors.other'),
                text: formatDate(machine, created),
                actions: [
                  drawButton(machine, {
                    action: `remove-${id}`,
                    text: say('remove'),
                    attributes: { 'aria-describedby': rowId(machine, id) },
                    run: () => machine.open(`remove-${id}`),
                  }),
                ],
              })),
            ),
          waiting && drawEnrolment(machine, waiting, change),
          codes && drawCodes(machine, codes, () => change({ codes: undefined })),
          factors.map(({ id }) => drawRemoval(machine, id)),
        ],
      }),
    ]
  },
}

function drawEnrolment(
  machine: Machine<SectionData>,
  { id, secret, qr }: Enrolment,
  change: (next: Partial<FactorsData>) => void,
): PartNode {
  const { say } = machine
  return el('div', { key: 'enrolment', 'data-opened': 'confirm-app' }, [
    el('p', {}, say('factors.scan')),
    qr &&
      el(
        'svg',
        {
          viewBox: `0 0 ${qr.size} ${qr.size}`,
          width: 200,
          height: 200,
          role: 'img',
          'aria-label': say('factors.qr'),
          'shape-rendering': 'crispEdges',
          'data-qr': true,
        },
        [el('rect', { width: '100%', height: '100%', fill: '#fff' }), el('path', { d: qr.path, fill: '#000' })],
      ),
    el('p', {}, [say('factors.key'), ' ', el('code', {}, secret)]),
    drawForm(machine, {
      action: 'confirm-app',
      label: say('factors.addApp'),
      fields: [
        {
          name: 'code',
          label: say('code.label'),
          attributes: { required: true, autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 16 },
        },
      ],
      submit: say('continue'),
      cancel() {
        change({ waiting: undefined })
        machine.open(undefined)
      },
      async run({ code = '' }) {
        const { codes } = await machine.call<{ codes: string[] }>('twoFactor', 'confirm', { id, code })
        machine.open(undefined)
        machine.setData({ factors: { factors: await machine.call<Factor[]>('twoFactor', 'list'), ...(codes.length > 0 && { codes }) } })
        machine.set({ note: say('factors.added') })
      },
    }),
  ])
}

function drawCodes(machine: Machine<SectionData>, codes: readonly string[], close: () => void): PartNode {
  const { say } = machine
  return el('div', { key: 'codes', 'data-codes': true }, [
    el('p', {}, say('factors.codes')),
    el(
      'ol',
      {},
      codes.map((code) => el('li', { key: code }, el('code', {}, code))),
    ),
    el('div', { 'data-buttons': true }, [
      drawAction(machine, {
        action: 'copy-codes',
        text: say('copy'),
        async run() {
          await navigator.clipboard.writeText(codes.join('\n'))
          machine.set({ note: say('copied') })
        },
      }),
      drawButton(machine, { action: 'close-codes', tone: 'quiet', text: say('factors.kept'), run: close }),
    ]),
  ])
}

function drawRemoval(machine: Machine<SectionData>, id: string): PartNode | undefined {
  const { say } = machine
  return drawConfirmation(machine, {
    name: `remove-${id}`,
    title: say('factors.removeTitle'),
    text: say('factors.removeText'),
    label: say('remove'),
    run: () => machine.call('twoFactor', 'remove', { id }),
    async reload() {
      await reloadSection(machine, factorsSection as Section)
      machine.set({ note: say('done') })
    },
  })
}
