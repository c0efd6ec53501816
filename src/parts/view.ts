/** Elements that several parts draw: forms with a message beside each field, buttons, sections, lists and dialogs. */
import type { Machine } from './machine.ts'
import { el, type PartEvent, type PartList, type PartNode } from './node.ts'
import type { Problem } from './problem.ts'

type AnyMachine = Machine<unknown>

/** A field of a form. */
export interface FieldSpec {
  readonly name: string
  readonly label: string
  /** Default `text`. */
  readonly type?: string | undefined
  readonly attributes?: PartNode['attributes'] | undefined
  readonly value?: string | undefined
  readonly hint?: string | undefined
  /** Values and texts of a list to choose from. */
  readonly options?: readonly (readonly [value: string, text: string])[] | undefined
}
/** A form. */
export interface FormSpec {
  /** Name of its action. */
  readonly action: string
  /** Name of the form for screen readers; default: the text of its button. */
  readonly label?: string | undefined
  readonly fields: readonly FieldSpec[]
  readonly submit: string
  readonly tone?: Tone | undefined
  /** Below the fields. */
  readonly more?: PartList | undefined
  /** Closes the form. */
  readonly cancel?: (() => void) | undefined
  readonly attributes?: PartNode['attributes'] | undefined
  run(values: Readonly<Record<string, string>>, data: FormData): Promise<Problem | undefined | void>
}
/** How a button looks. */
export type Tone = 'primary' | 'plain' | 'danger' | 'quiet'

/** A form with labels, hints, and messages beside its fields. What was typed stays after a rejection, secrets excepted. */
export function drawForm(machine: AnyMachine, spec: FormSpec): PartNode {
  const { action, label, fields, submit, tone = 'primary', more = [], cancel, attributes, run } = spec
  const { busy, problem } = machine.get()
  const own = problem?.action === action ? problem : undefined
  const beside = own && fields.some(({ name, type }) => name === own.field && type !== 'hidden')
  return el(
    'form',
    { key: action, 'data-form': action, 'aria-label': label ?? submit, 'aria-busy': busy === action, novalidate: true, ...attributes },
    [
      fields.map((field) => drawField(machine, action, field, beside && own.field === field.name ? own.text : undefined)),
      more,
      el('p', { key: 'alert', role: 'alert', 'data-alert': true }, own && !beside ? own.text : ''),
      el('div', { key: 'buttons', 'data-buttons': true }, [
        el('button', { key: 'submit', type: 'submit', 'data-tone': tone, disabled: busy !== undefined }, submit),
        cancel && drawButton(machine, { action: 'cancel', text: machine.say('cancel'), tone: 'quiet', run: cancel }),
      ]),
    ],
    { submit: (event) => void submitForm(machine, event, action, run) },
  )
}

/** What a button does. `action`: it runs as an action of the part; without one `run` is called at once. */
export interface ButtonSpec {
  readonly text: string
  readonly tone?: Tone | undefined
  readonly action: string
  readonly attributes?: PartNode['attributes'] | undefined
  run(): unknown
}

/** A button. */
export function drawButton(machine: AnyMachine, { text, tone = 'plain', action, attributes, run }: ButtonSpec): PartNode {
  return el(
    'button',
    { key: action, type: 'button', 'data-tone': tone, 'data-action': action, disabled: machine.get().busy !== undefined, ...attributes },
    text,
    { click: () => void run() },
  )
}

/** A button that runs an action of the part, with its message below. */
export function drawAction(
  machine: AnyMachine,
  spec: Omit<ButtonSpec, 'run'> & { run(): Promise<Problem | undefined | void> },
): PartNode[] {
  const { busy, problem } = machine.get()
  const { action } = spec
  const button = drawButton(machine, {
    ...spec,
    attributes: { 'aria-busy': busy === action, ...spec.attributes },
    run: () => machine.act(action, spec.run),
  })
  return problem?.action === action
    ? [button, el('p', { key: `${action}-alert`, role: 'alert', 'data-alert': true }, problem.text)]
    : [button]
}

/** A part of a page with a heading. */
export function drawSection(
  machine: AnyMachine,
  {
    id,
    title,
    text,
    actions = [],
    body = [],
  }: { id: string; title: string; text?: string | undefined; actions?: PartList; body?: PartList },
): PartNode {
  const heading = `${machine.id}-${id}`
  return el('section', { key: id, 'data-section': id, 'aria-labelledby': heading }, [
    el('header', {}, [
      el('div', {}, [el('h3', { id: heading }, title), text !== undefined && el('p', {}, text)]),
      actions.length > 0 && el('div', { 'data-buttons': true }, actions),
    ]),
    body,
  ])
}

/** A list of rows. `id` of a row is what its buttons are described by. */
export function drawRows(
  machine: AnyMachine,
  rows: readonly { id: string; title: string; tags?: readonly string[]; text?: string | undefined; actions?: PartList }[],
): PartNode {
  return el(
    'ul',
    { 'data-rows': true },
    rows.map(({ id, title, tags = [], text, actions = [] }) =>
      el('li', { key: id }, [
        el('div', { id: rowId(machine, id) }, [
          el('bdi', {}, title),
          tags.map((tag) => [' ', el('span', { key: tag, 'data-tag': true }, tag)]),
          text !== undefined && text !== '' && el('small', {}, text),
        ]),
        actions.length > 0 && el('div', { key: 'buttons', 'data-buttons': true }, actions),
      ]),
    ),
  )
}

/** Id of a row's text. */
export function rowId(machine: AnyMachine, id: string): string {
  return `${machine.id}-row-${id}`
}

/** A modal question, while it is open. Escape closes it. */
export function drawDialog(
  machine: AnyMachine,
  { name, title, text, body }: { name: string; title: string; text?: string | undefined; body: PartList },
): PartNode | undefined {
  if (machine.get().opened !== name) return undefined
  const id = `${machine.id}-dialog`
  return el(
    'dialog',
    { key: `dialog-${name}`, 'data-opened': name, 'aria-labelledby': id },
    [el('h3', { id }, title), text !== undefined && el('p', {}, text), body],
    { close: () => machine.open(undefined) },
  )
}

/** A modal question before something ends for good. `label` is on the button that does it, by `run`; `reload` follows when the dialog is gone. */
export function drawConfirmation(
  machine: AnyMachine,
  question: { name: string; title: string; text: string; label: string; run(): Promise<unknown>; reload(): Promise<void> },
): PartNode | undefined {
  const { name, title, text, label, run, reload } = question
  return drawDialog(machine, {
    name,
    title,
    text,
    body: [
      el('div', { 'data-buttons': true }, [
        drawAction(machine, {
          action: `${name}-yes`,
          tone: 'danger',
          text: label,
          async run() {
            await run()
            machine.open(undefined)
            await reload()
          },
        }),
        drawButton(machine, { action: 'keep', tone: 'quiet', text: machine.say('cancel'), run: () => machine.open(undefined) }),
      ]),
    ],
  })
}

/** What all parts show before, instead and above of their content: a placeholder, why it cannot be shown, and what was done. */
export function drawFrame(machine: AnyMachine, part: string, draw: () => PartList, tag = 'div'): PartNode {
  const { phase, problem, note } = machine.get()
  const attributes = { id: machine.id, 'data-part': part, 'aria-busy': phase === 'loading' }
  if (phase === 'loading') return el(tag, attributes, el('div', { 'data-skeleton': true }))
  if (phase === 'failed')
    return el(tag, attributes, [
      el('p', { role: 'alert', 'data-alert': true }, problem?.text ?? ''),
      drawButton(machine, { action: 'retry', text: machine.say('retry'), run: () => machine.reload().catch(() => {}) }),
    ])
  return el(tag, attributes, [...draw(), note !== undefined && el('p', { key: 'note', role: 'status', 'data-note': true }, note)])
}

function drawField(machine: AnyMachine, action: string, spec: FieldSpec, message: string | undefined): PartNode {
  const { name, label, type = 'text', attributes = {}, value, hint, options } = spec
  if (type === 'hidden') return el('input', { key: name, type, name, value })
  const id = `${machine.id}-${action}-${name}`
  const described = [hint !== undefined && `${id}-hint`, message !== undefined && `${id}-error`].filter(Boolean).join(' ')
  const { peek } = machine.get()
  const shared = {
    ...attributes,
    id,
    name,
    'aria-invalid': message !== undefined ? 'true' : undefined,
    'aria-describedby': described === '' ? undefined : described,
  }
  const input = options
    ? el(
        'select',
        shared,
        options.map(([given, text]) => el('option', { key: given, value: given, selected: given === value }, text)),
      )
    : type === 'textarea'
      ? el('textarea', { ...shared, rows: 4 }, value ?? '')
      : el('input', { ...shared, type: type === 'password' && peek === id ? 'text' : type, value, 'data-secret': type === 'password' })
  const isCheck = type === 'checkbox'
  return el('div', { key: name, 'data-field': name, 'data-check': isCheck }, [
    isCheck && input,
    el('label', { for: id }, label),
    !isCheck && (type === 'password' ? el('div', { 'data-typed': true }, [input, drawPeek(machine, id)]) : input),
    hint !== undefined && el('small', { id: `${id}-hint`, 'data-hint': true }, hint),
    message !== undefined && el('p', { id: `${id}-error`, 'data-error': true }, message),
  ])
}

/** Shows what was typed into a password field, until the form is sent. */
function drawPeek(machine: AnyMachine, id: string): PartNode {
  const shown = machine.get().peek === id
  return el(
    'button',
    { key: 'peek', type: 'button', 'data-tone': 'quiet', 'aria-controls': id, 'aria-pressed': shown ? 'true' : 'false' },
    machine.say(shown ? 'hide' : 'show'),
    { click: () => machine.set({ peek: shown ? undefined : id }) },
  )
}

async function submitForm(machine: AnyMachine, event: PartEvent, action: string, run: FormSpec['run']): Promise<void> {
  event.preventDefault()
  const form = event.currentTarget as HTMLFormElement
  const data = new FormData(form)
  const values = Object.fromEntries([...data].filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  const wrong = [...form.elements].find((one): one is HTMLInputElement => 'validity' in one && !(one as HTMLInputElement).validity.valid)
  machine.set({ peek: undefined })
  await machine.act(
    action,
    async () => {
      if (!wrong) return run(values, data)
      const { valueMissing, typeMismatch } = wrong.validity
      return { field: wrong.name, text: machine.say(valueMissing ? 'error.required' : typeMismatch ? 'error.email' : 'error.invalid') }
    },
    form,
  )
}
