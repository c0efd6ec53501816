/** The later steps of a sign-in: a code, a second factor, a message that was sent, sign-up, reset. Loaded when one is reached. */
import { askForPasskey } from 'authkernel/client'
import { fieldLabel, type Method, methodLabel } from './methods.ts'
import { el, type PartList, type PartNode } from './node.ts'
import type { Problem } from './problem.ts'
import type { SignInActions, SignInData } from './sign-in-types.ts'
import { drawAction, drawButton, drawForm, type FieldSpec } from './view.ts'

/** Draws the step that a sign-in is at. */
export function drawStep(actions: SignInActions, data: SignInData): PartList {
  switch (data.step) {
    case 'code':
      return drawCode(actions, data)
    case 'factor':
      return drawFactor(actions, data)
    case 'mailed':
      return drawMailed(actions, data)
    case 'reset':
      return drawReset(actions, data)
    default:
      return drawSignUp(actions, data)
  }
}

const codeAttributes = {
  required: true,
  autocomplete: 'one-time-code',
  inputmode: 'numeric',
  maxlength: 16,
  autocapitalize: 'none',
  spellcheck: 'false',
}

function drawCode(actions: SignInActions, { codes = 'codes', identifier, again }: SignInData): PartList {
  const { machine } = actions
  const { say } = machine
  return [
    el('h2', { tabindex: -1 }, say(codes === 'phone' ? 'code.phone.title' : 'mailed.title')),
    el('p', {}, say('code.text', { identifier })),
    drawForm(machine, {
      action: 'code',
      fields: [{ name: 'code', label: say('code.label'), attributes: codeAttributes }],
      submit: say('continue'),
      run: async ({ code = '' }) => {
        const { url } = await machine.call<{ url: string }>(codes, 'verify', { code })
        return actions.arrive(url)
      },
    }),
    drawAgain(actions, again),
    drawBack(actions),
  ]
}

function drawFactor(actions: SignInActions, { question }: SignInData): PartList {
  const { machine } = actions
  const { say } = machine
  const { factors = [], backupCode = false, remember = false } = question ?? {}
  const typed = factors.includes('totp') || factors.includes('emailCode') || backupCode
  const text = factors.includes('totp')
    ? 'factor.totp'
    : factors.includes('emailCode')
      ? 'factor.email'
      : factors.includes('passkey')
        ? 'factor.passkey'
        : 'factor.backup'
  const verify = async (input: object): Promise<Problem | undefined> => {
    const { url } = await machine.call<{ url: string }>('twoFactor', 'verify', input)
    return actions.arrive(url)
  }
  return [
    el('h2', { tabindex: -1 }, say(actions.purpose === 'proof' ? 'proof.title' : 'factor.title')),
    el('p', {}, say(text)),
    typed &&
      drawForm(machine, {
        action: 'factor',
        fields: [
          {
            name: 'code',
            label: say('code.label'),
            attributes: { ...codeAttributes, inputmode: backupCode ? 'text' : 'numeric', maxlength: 64 },
            hint: backupCode ? say('factor.backupHint') : undefined,
          },
          ...(remember && actions.purpose !== 'proof'
            ? [{ name: 'remember', label: say('factor.remember'), type: 'checkbox', value: 'on' }]
            : []),
        ],
        submit: say('continue'),
        run: ({ code = '', remember: kept }) => verify({ code, remember: kept === 'on' }),
      }),
    factors.includes('passkey') && [
      ...drawAction(machine, {
        action: 'factor-passkey',
        text: say('submit.webauthn'),
        tone: typed ? 'plain' : 'primary',
        run: async () => {
          const options = await machine.call<object>('twoFactor', 'getPasskeyOptions')
          return verify({ data: await askForPasskey(options) })
        },
      }),
    ],
    factors.includes('emailCode') &&
      drawAction(machine, {
        action: 'factor-mail',
        text: say('factor.send'),
        run: async () => {
          await machine.call('twoFactor', 'sendCode')
          machine.set({ note: say('sent') })
        },
      }),
    actions.purpose !== 'proof' && drawBack(actions),
  ]
}

function drawMailed(actions: SignInActions, { identifier, again }: SignInData): PartList {
  const { machine } = actions
  const { say } = machine
  return [
    el('h2', { tabindex: -1 }, say('mailed.title')),
    el('p', {}, identifier === '' ? say('mailed.anywhere') : say('mailed.text', { identifier })),
    el('p', { 'data-hint': true }, say('mailed.hint')),
    drawAgain(actions, again),
    drawBack(actions),
  ]
}

function drawReset(actions: SignInActions, { identifier }: SignInData): PartList {
  const { machine } = actions
  const { say } = machine
  return [
    el('h2', { tabindex: -1 }, say('reset.title')),
    el('p', {}, say('reset.text')),
    drawForm(machine, {
      action: 'reset',
      fields: [emailField(actions, identifier.includes('@') ? identifier : '')],
      submit: say('reset.submit'),
      run: (values) => actions.requestReset(values),
    }),
    drawBack(actions),
  ]
}

function drawSignUp(actions: SignInActions, { methods, minLength, identifier }: SignInData): PartList {
  const { machine, purpose } = actions
  const { say } = machine
  const email = identifier.includes('@') ? identifier : ''
  // A password is one way to sign up; links, codes and providers make a user at the first sign-in.
  const others = methods.filter(({ type }) => type !== 'passwords' && type !== 'credentials')
  return [
    el('h2', { tabindex: -1 }, say('signUp.title')),
    minLength !== undefined &&
      drawForm(machine, {
        action: 'signUp',
        fields: [
          { name: 'name', label: say('name'), attributes: { autocomplete: 'name', maxlength: 200 } },
          emailField(actions, email),
          {
            name: 'password',
            label: say('password'),
            type: 'password',
            hint: say('password.rule', { min: minLength }),
            attributes: { required: true, autocomplete: 'new-password', maxlength: 256 },
          },
        ],
        submit: say('signUp.title'),
        run: (values) => actions.signUp(values),
      }),
    minLength !== undefined && others.length > 0 && el('p', { key: 'divider', 'data-divider': true }, say('or')),
    others.map((method) => drawOther(actions, method, minLength === undefined, email)),
    el('p', { key: 'to-sign-in', 'data-foot': true }, [
      say('signIn.question'),
      ' ',
      drawButton(machine, {
        action: 'signIn',
        tone: 'quiet',
        text: say('signIn.title'),
        run: () => actions.go(purpose === 'signUp' ? 'method' : actions.firstStep()),
      }),
    ]),
  ]
}

/** Another way to sign up. The fields of links, codes and passkeys stay closed where the form above has an address already. */
function drawOther(actions: SignInActions, method: Method, first: boolean, email: string): PartNode {
  const { machine } = actions
  const { id, type, fields } = method
  const label = type === 'webauthn' ? machine.say('signUp.passkey') : methodLabel(machine, method)
  const name = `other-${id}`
  if (fields.length === 0)
    return el(
      'div',
      { key: name, 'data-method': true, 'data-provider': id, 'data-type': type },
      drawAction(machine, { action: name, text: label, run: () => actions.submit(method, {}) }),
    )
  if (!first && machine.get().opened !== name)
    return el(
      'div',
      { key: name, 'data-method': true, 'data-provider': id, 'data-type': type },
      drawButton(machine, { action: name, text: label, attributes: { 'aria-expanded': 'false' }, run: () => machine.open(name) }),
    )
  return drawForm(machine, {
    action: name,
    label,
    submit: label,
    attributes: { 'data-provider': id, 'data-type': type, 'data-opened': name },
    fields: fields.map(({ name: field, label: text, attributes: { type: kind = 'text', ...more } }): FieldSpec => ({
      name: field,
      label: fieldLabel(machine, text),
      type: String(kind),
      attributes: { ...more, ...(type === 'webauthn' && { required: true, autocomplete: 'email' }) },
      value: method.identifier?.kind === 'email' && field === method.identifier.name ? email : undefined,
    })),
    run: (values) =>
      type === 'webauthn'
        ? actions.registerPasskey(method, values[method.identifier?.name ?? 'email'] ?? '')
        : actions.submit(method, values),
  })
}

function emailField({ machine }: SignInActions, value: string): FieldSpec {
  return {
    name: 'email',
    label: machine.say('email'),
    type: 'email',
    value,
    attributes: { required: true, autocomplete: 'username', maxlength: 254, autocapitalize: 'none', spellcheck: 'false' },
  }
}

function drawAgain({ machine }: SignInActions, again: SignInData['again']): PartNode[] {
  if (!again) return []
  const run = async (): Promise<Problem | undefined> => {
    const problem = await again()
    if (!problem) machine.set({ note: machine.say('sent') })
    return problem
  }
  return drawAction(machine, { action: 'again', text: machine.say('again'), run })
}

function drawBack(actions: SignInActions): PartNode {
  return drawButton(actions.machine, {
    action: 'back',
    tone: 'quiet',
    text: actions.machine.say('back'),
    run: () => actions.go(actions.firstStep()),
  })
}
