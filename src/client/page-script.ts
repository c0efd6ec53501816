/**
 * The script of the built-in sign-in page. `scripts/build-browser.mjs` bundles it into the one string that `plugins/sign-in/webauthn` gives to the page.
 *
 * Markup it works with (any page of a host may use it too):
 *
 *     <form id="passkey-form" method="post" action="<base>/callback/passkey" data-options-url="<base>/webauthn-options/passkey">
 *       <input type="hidden" name="csrfToken" value="…">
 *       <input type="hidden" name="callbackUrl" value="…">
 *       <input name="email" autocomplete="username webauthn">
 *       <p role="alert"></p>
 *       <button>Sign in with a passkey</button>
 *     </form>
 *
 * Every other input is sent to the options URL as a query. A button with `name="action"` and `value="register"` or `"authenticate"` decides what happens;
 * without one the server does. A field whose autocomplete has `webauthn` offers passkeys in its autofill. Errors are shown in the element with
 * `role="alert"`, which is made when absent; `data-text-cancelled`, `-failed`, `-known` and `-unsupported` on the form translate them.
 * What comes after the ceremony is an ordinary form post: the answer may be any page or redirect.
 */
import { createPasskey, getPasskey, makesPasskeysAlone, signalUnknown } from './ceremony.ts'
import { supportsPasskeys } from './support.ts'

type Answer =
  | { action: 'register'; options: PublicKeyCredentialCreationOptionsJSON }
  | { action: 'authenticate'; options: PublicKeyCredentialRequestOptionsJSON }
type Text = keyof typeof texts

const texts = {
  cancelled: 'That was cancelled or took too long. You can try again.',
  failed: 'That did not work. Please try again.',
  known: 'This device already has a passkey for this account.',
  unsupported: 'This browser does not support passkeys.',
}
// A challenge lives 15 minutes on the server; the autofill must not offer an older one.
const refreshAfter = 10 * 60 * 1000
const triedKey = 'authkernel.passkey'

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', enhanceForms)
else enhanceForms()

// Where a page of the server asks for a passkey after a sign-in with a password.
document.addEventListener('authkernel:conditional-create', (event) => void createAlone((event as CustomEvent<HTMLFormElement>).detail))
void tellUnknown()

function enhanceForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-options-url]')) enhanceForm(form)
}

function enhanceForm(form: HTMLFormElement): void {
  let waiting: AbortController | undefined
  let timer: number | undefined

  // A passkey says whose it is: the address is for people who have none yet.
  for (const input of form.querySelectorAll<HTMLInputElement>('input[autocomplete~="webauthn"]')) input.required = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    stopWaiting()
    // Before the buttons are disabled: a disabled one is not part of the form's data.
    void ceremony(queryOf(form, event.submitter))
  })
  // Back from the next page: what was disabled and filled in is still so.
  addEventListener('pageshow', (event) => event.persisted && reset())
  void offerAutofill()

  async function ceremony(query: URLSearchParams): Promise<void> {
    busy(true)
    show('')
    try {
      if (!(await supportsPasskeys())) return fail('unsupported')
      const answer = await loadOptions(form, query)
      const credential = answer.action === 'register' ? await createPasskey(answer.options) : await getPasskey(answer.options)
      send(form, answer, credential)
    } catch (error) {
      fail(errorTextOf(error))
    }
  }

  /** Waits in the autofill of a field until a passkey is chosen. */
  async function offerAutofill(): Promise<void> {
    if (!form.querySelector('input[autocomplete~="webauthn"]') || !(await supportsPasskeys(true))) return
    const controller = (waiting = new AbortController())
    timer = window.setTimeout(() => {
      stopWaiting()
      void offerAutofill()
    }, refreshAfter)
    try {
      const answer = await loadOptions(form, new URLSearchParams({ action: 'authenticate' }))
      if (answer.action !== 'authenticate' || controller.signal.aborted) return
      const credential = await getPasskey(answer.options, controller.signal, true)
      busy(true)
      send(form, answer, credential)
    } catch {
      // Not chosen, or no longer wanted: the button still works.
    }
  }

  function stopWaiting(): void {
    waiting?.abort()
    clearTimeout(timer)
  }

  function fail(text: Text): void {
    reset()
    show(form.dataset[`text${text[0]?.toUpperCase()}${text.slice(1)}`] ?? texts[text])
  }

  function reset(): void {
    busy(false)
    for (const name of ['action', 'data']) form.querySelector(`input[type=hidden][name=${name}]`)?.remove()
    stopWaiting()
    void offerAutofill()
  }

  function show(text: string): void {
    let alert = form.querySelector('[role=alert]')
    if (!alert) {
      alert = form.appendChild(document.createElement('p'))
      alert.setAttribute('role', 'alert')
    }
    // Never hidden: what appears together with its element is not read out.
    alert.textContent = text
  }

  function busy(on: boolean): void {
    form.setAttribute('aria-busy', String(on))
    for (const button of form.querySelectorAll('button')) button.disabled = on
  }
}

async function loadOptions(form: HTMLFormElement, query: URLSearchParams): Promise<Answer> {
  const response = await fetch(`${form.dataset['optionsUrl']}?${query}`, { headers: { accept: 'application/json' }, cache: 'no-store' })
  if (!response.ok) throw new Error(`options: ${response.status}`)
  return (await response.json()) as Answer
}

function send(form: HTMLFormElement, answer: Answer, credential: object): void {
  field(form, 'action').value = answer.action
  field(form, 'data').value = JSON.stringify(credential)
  if (answer.action === 'authenticate') keepTried(answer.options.rpId ?? location.hostname, (credential as { id: string }).id)
  // A field may be named "submit" and hide the method.
  HTMLFormElement.prototype.submit.call(form)
}

function field(form: HTMLFormElement, name: string): HTMLInputElement {
  const known = form.querySelector<HTMLInputElement>(`input[type=hidden][name=${name}]`)
  if (known) return known
  const input = Object.assign(document.createElement('input'), { type: 'hidden', name })
  return form.appendChild(input)
}

/** Without a question and without a message: where the browser makes none, nothing has changed for the user. */
async function createAlone(form: HTMLFormElement): Promise<void> {
  try {
    if (!(await makesPasskeysAlone())) return
    const answer = await loadOptions(form, new URLSearchParams({ action: 'register', conditional: '1' }))
    if (answer.action === 'register') send(form, answer, await createPasskey(answer.options, undefined, true))
  } catch {
    // The button still works.
  }
}

/** The answer to a sign-in is another page: the passkey is kept for it, in this tab. */
function keepTried(rpId: string, id: string): void {
  try {
    sessionStorage.setItem(triedKey, JSON.stringify([rpId, id]))
  } catch {
    // Storage is switched off: the password manager goes on offering the passkey.
  }
}

async function tellUnknown(): Promise<void> {
  try {
    const tried = sessionStorage.getItem(triedKey)
    sessionStorage.removeItem(triedKey)
    if (!tried || new URLSearchParams(location.search).get('error') !== 'UnknownPasskey') return
    const [rpId, id] = JSON.parse(tried) as [string, string]
    await signalUnknown(rpId, id)
  } catch {
    // As above.
  }
}

function queryOf(form: HTMLFormElement, submitter: HTMLElement | null): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of new FormData(form, submitter)) {
    // The token stays out of URLs.
    if (typeof value === 'string' && value && name !== 'csrfToken' && name !== 'callbackUrl') query.append(name, value)
  }
  return query
}

function errorTextOf(error: unknown): Text {
  const name = error instanceof Error || error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') return 'cancelled'
  return name === 'InvalidStateError' ? 'known' : 'failed'
}
