/** What `SignIn` shows first: the identifier, and the methods. The other steps are loaded when they are reached. */
import { couldBe, fieldLabel, identifierLabel, type Method, methodLabel } from './methods.ts'
import type { PartState } from './machine.ts'
import { el, type PartNode } from './node.ts'
import type { SignInActions, SignInData, SignInProps } from './sign-in-types.ts'
import { drawAction, drawButton, drawForm, drawFrame, type FieldSpec } from './view.ts'

/** Draws a state. */
export function drawSignIn(actions: SignInActions, state: PartState<SignInData>, props: SignInProps): PartNode {
  const { machine, purpose } = actions
  const { say } = machine
  const part = purpose === 'signUp' ? 'sign-up' : 'sign-in'
  return drawFrame(machine, part, () => {
    const { data, session } = state
    if (!data) return []
    if (session.status === 'authenticated' && purpose !== 'proof') {
      const { name, email } = session.session.user ?? {}
      return [
        el('h2', {}, say('signedIn.title')),
        el('p', { role: 'status' }, say('signedIn.text', { name: name ?? email ?? '' })),
        drawButton(machine, {
          action: 'continue',
          tone: 'primary',
          text: say('continue'),
          run: () => actions.finish(props.redirectTo ?? '/'),
        }),
      ]
    }
    const step = data.step === 'identifier' ? drawIdentifier : data.step === 'method' ? drawMethods : actions.drawStep
    // What the server said when it led to this page.
    const { problem } = state
    return [problem?.action === 'page' && el('p', { key: 'page', role: 'alert', 'data-alert': true }, problem.text), step?.(actions, data)]
  })
}

function drawIdentifier(actions: SignInActions, { methods, identifier }: SignInData) {
  const { machine } = actions
  const { say } = machine
  const typed = methods.filter(({ identifier: field, type }) => field && type !== 'webauthn')
  const passkeys = methods.some(({ type }) => type === 'webauthn')
  const kinds = new Set(typed.map(({ identifier: field }) => field?.kind))
  const keyboard = kinds.size === 1 && kinds.has('phone') ? 'tel' : kinds.size <= 1 && !kinds.has('name') ? 'email' : 'text'
  const others = methods.filter((method) => !method.identifier || method.type === 'webauthn')
  return [
    el('h2', { tabindex: -1 }, say('signIn.title')),
    drawForm(machine, {
      action: 'identifier',
      label: say('signIn.title'),
      fields: [
        {
          name: 'identifier',
          label: say(typed.length > 0 ? (identifierLabel(typed) as 'identifier.email') : 'identifier.email'),
          type: keyboard,
          value: identifier,
          attributes: {
            required: true,
            autocomplete: passkeys ? 'username webauthn' : 'username',
            maxlength: 254,
            autocapitalize: 'none',
            spellcheck: 'false',
          },
        },
      ],
      submit: say('continue'),
      run: ({ identifier: text = '' }) => actions.typeIdentifier(text),
    }),
    others.length > 0 && drawDivider(actions),
    others.map((method) => drawMethod(actions, method, undefined)),
    drawSignUpLink(actions),
  ]
}

/** The forms that fit what was typed; all of them where nothing is asked for first. */
function drawMethods(actions: SignInActions, { methods, identifier, realms, step }: SignInData) {
  const { machine, purpose } = actions
  const { say } = machine
  const isChosen = identifier !== '' && step === 'method'
  const fitting = realms ?? methods.filter((method) => !isChosen || !method.identifier || couldBe(method.identifier.kind, identifier))
  const forms = fitting.filter(({ fields }) => fields.some(({ name, attributes }) => attributes['type'] !== 'hidden' && name !== ''))
  const first = forms.find(({ type }) => type !== 'webauthn') ?? forms[0]
  const ordered = isChosen ? [...forms.filter((one) => one === first), ...fitting.filter((one) => one !== first)] : fitting
  return [
    el('h2', { tabindex: -1 }, say(purpose === 'proof' ? 'proof.title' : realms ? 'realms.title' : 'signIn.title')),
    purpose === 'proof' && el('p', {}, say('proof.text')),
    isChosen &&
      el('p', { 'data-chosen': true }, [
        el('bdi', {}, identifier),
        ' ',
        purpose !== 'proof' &&
          drawButton(machine, {
            action: 'change',
            tone: 'quiet',
            text: say('change'),
            run: () => actions.go('identifier', { realms: undefined }),
          }),
      ]),
    ordered.flatMap((method, at) => [
      at > 0 && ordered[at - 1] === first && drawDivider(actions),
      drawMethod(actions, method, isChosen ? identifier : undefined, method !== first),
    ]),
    ordered.length === 0 && el('p', {}, say('signIn.empty')),
    purpose === 'signIn' && drawSignUpLink(actions),
  ]
}

/** One method: a form, or a button alone. `identifier`: what was typed already. */
function drawMethod(actions: SignInActions, method: Method, identifier: string | undefined, second = true): PartNode {
  const { machine } = actions
  const { id, type, fields, identifier: field } = method
  const label = methodLabel(machine, method)
  const attributes = { 'data-provider': id, 'data-type': type }
  const visible = fields.filter(
    ({ name, attributes: given }) => given['type'] !== 'hidden' && !(identifier !== undefined && name === field?.name),
  )
  if (type === 'webauthn' || fields.length === 0)
    return el(
      'div',
      { key: id, 'data-method': true, ...attributes },
      drawAction(machine, { action: id, text: label, run: () => actions.submit(method, {}) }),
    )
  return drawForm(machine, {
    action: id,
    label,
    submit: visible.length > 0 && !second && type === 'passwords' ? machine.say('signIn.title') : label,
    tone: second && visible.length === 0 ? 'plain' : 'primary',
    attributes,
    fields: fields.map(({ name, label: text, attributes: given }): FieldSpec => {
      const { type: kind = 'text', value, ...more } = given
      // For password managers it is there, and it is not asked for again.
      if (identifier !== undefined && name === field?.name) return { name, label: text, type: 'hidden', value: identifier }
      return {
        name,
        label: fieldLabel(machine, text),
        type: String(kind),
        attributes: more,
        value: value === undefined ? undefined : String(value),
      }
    }),
    more: [
      type === 'passwords' &&
        machine.hasMethod('passwords', 'requestReset') &&
        drawButton(machine, { action: 'reset', tone: 'quiet', text: machine.say('reset.link'), run: () => actions.go('reset') }),
    ],
    run: (values) => actions.submit(method, values),
  })
}

function drawDivider({ machine }: SignInActions): PartNode {
  return el('p', { key: 'divider', 'data-divider': true }, machine.say('or'))
}

function drawSignUpLink(actions: SignInActions): PartNode | false {
  const { machine } = actions
  if (!machine.hasMethod('passwords', 'signUp')) return false
  return el('p', { key: 'to-sign-up', 'data-foot': true }, [
    machine.say('signUp.question'),
    ' ',
    drawButton(machine, { action: 'signUp', tone: 'quiet', text: machine.say('signUp.title'), run: () => actions.go('signUp') }),
  ])
}
