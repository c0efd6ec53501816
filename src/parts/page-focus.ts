/** The focus, and what was typed, after a part was drawn again. All frameworks have drawn by the next frame. */

/** Removes what must not stay in a form after a rejection: passwords and codes. */
export function wipeSecrets(form: HTMLFormElement | undefined): void {
  for (const input of form?.querySelectorAll<HTMLInputElement>(
    'input[type=password], input[autocomplete~=one-time-code], input[data-secret]',
  ) ?? [])
    input.value = ''
}

/** The field that a message is about, else the message. */
export function focusInvalid(id: string): void {
  afterDrawing(id, (root) => focus(root.querySelector<HTMLElement>('[aria-invalid=true]')))
}

/** The first field of what was opened, else the thing itself; a dialog is shown. */
export function focusPart(id: string, name: string): void {
  afterDrawing(id, (root) => {
    const box = root.querySelector<HTMLElement>(`[data-opened="${CSS.escape(name)}"]`)
    if (box instanceof HTMLDialogElement && !box.open) box.showModal()
    focus(box?.querySelector<HTMLElement>(fieldsOf) ?? null)
  })
}

/** The first field of a part that went on to its next step, else its heading. */
export function focusStep(id: string): void {
  afterDrawing(id, (root) => focus(root.querySelector<HTMLElement>(fieldsOf) ?? root.querySelector<HTMLElement>('h2')))
}

/** What opened a form, a menu or a dialog, after it was closed; where that is gone, a heading. */
export function restoreFocus(id: string, opener: Element | null): void {
  afterDrawing(id, (root) => {
    const target = opener?.isConnected ? (opener as HTMLElement) : root.querySelector<HTMLElement>('h2, h3')
    if (target && !opener?.isConnected) target.tabIndex = -1
    focus(target)
  })
}

const fieldsOf = 'input:not([type=hidden], [tabindex="-1"]), select, textarea'

function afterDrawing(id: string, act: (root: HTMLElement) => void): void {
  requestAnimationFrame(() => {
    const root = document.getElementById(id)
    if (root) act(root)
  })
}

function focus(element: HTMLElement | null): void {
  element?.focus()
}
