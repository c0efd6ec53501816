/** Beside the fields of passwords: the rule for a new one, a button that shows what was typed, and how good it is. Without JavaScript the rule is there. */
import type { Content, PageTools } from 'authkernel/kernel'

/** The rule of a new password, before it is typed. Its field names it in `aria-describedby`. `min` in code points. */
export function drawRule({ html, say }: PageTools, min: number): Content {
  return html`<p class="note rule" id="password-rule">${say('passwords.rule', { min })}</p>`
}

/** What the script reads: its texts and the length that is asked for. `min` in code points. */
export function typingTools({ html, say }: PageTools, min: number): Content {
  return html`<div
    hidden
    data-password-tools="${min}"
    data-show="${say('passwords.show')}"
    data-hide="${say('passwords.hide')}"
    data-short="${say('passwords.short')}"
    data-weak="${say('passwords.weak')}"
    data-fine="${say('passwords.fine')}"
    data-strong="${say('passwords.strong')}"
  ></div>`
}

/** For the `scripts` of a page with `typingTools`. Nothing leaves the browser. */
export const typingScript: string = `"use strict";(() => {
  for (const box of document.querySelectorAll('[data-password-tools]')) {
    const say = box.dataset, min = Number(say.passwordTools)
    for (const input of box.closest('form').querySelectorAll('input[type=password]')) enhance(input, say, min)
  }
  function enhance(input, say, min) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button small peek'
    button.setAttribute('aria-controls', input.id)
    const label = () => {
      const shown = input.type === 'text'
      button.textContent = shown ? say.hide : say.show
      button.setAttribute('aria-pressed', String(shown))
    }
    button.addEventListener('click', () => { input.type = input.type === 'text' ? 'password' : 'text'; label(); input.focus() })
    // A password that is shown must not stay in the history of forms.
    input.form.addEventListener('submit', () => { input.type = 'password' })
    label()
    const box = document.createElement('div')
    box.className = 'typed'
    input.replaceWith(box)
    box.append(input, button)
    if (document.activeElement === document.body && input.autofocus) input.focus()
    if (input.autocomplete !== 'new-password') return
    const meter = document.createElement('p')
    meter.className = 'note meter'
    meter.setAttribute('role', 'status')
    box.after(meter)
    input.addEventListener('input', () => { meter.textContent = judge(input.value, say, min) })
  }
  function judge(value, say, min) {
    const letters = Array.from(value.normalize('NFKC'))
    if (letters.length === 0) return ''
    if (letters.length < min) return say.short.replace('{n}', letters.length).replace('{min}', min)
    const different = new Set(letters.map((one) => one.toLowerCase())).size
    let steps = 0
    for (let i = 1; i < letters.length; i++) if (Math.abs(letters[i].codePointAt(0) - letters[i - 1].codePointAt(0)) <= 1) steps++
    if (different < 6 || steps > letters.length / 2) return say.weak
    return letters.length >= min + 5 && different >= 10 ? say.strong : say.fine
  }
})()`
