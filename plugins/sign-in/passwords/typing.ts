/** Beside the fields of passwords: the rule for a new one, a button that shows what was typed, and how good it is. Without JavaScript the rule is there. */
import type { Content, PageTools } from 'authkernel/kernel'

/** Where the estimate of strength is loaded from, below the base path. */
export const strengthPath = '/passwords/strength.js'

/** The rule of a new password, before it is typed. Its field names it in `aria-describedby`. `min` in code points. */
export function drawRule({ html, say }: PageTools, min: number): Content {
  return html`<p class="note rule" id="password-rule">${say('passwords.rule', { min })}</p>`
}

/** What the script reads: its texts and the length that is asked for. `min` in code points. */
export function typingTools({ html, say, base }: PageTools, min: number): Content {
  return html`<div
    hidden
    data-password-tools="${min}"
    data-show="${say('passwords.show')}"
    data-hide="${say('passwords.hide')}"
    data-short="${say('passwords.short')}"
    data-strength="${base}${strengthPath}"
    data-score0="${say('passwords.score-0')}"
    data-score1="${say('passwords.score-1')}"
    data-score2="${say('passwords.score-2')}"
    data-score3="${say('passwords.score-3')}"
    data-score4="${say('passwords.score-4')}"
  ></div>`
}

/** For the `scripts` of a page with `typingTools`. Nothing leaves the browser. */
export const typingScript: string = `"use strict";(() => {
  const { nonce } = document.currentScript
  const meters = []
  let estimate, asked
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
    const show = () => {
      const { score, text } = judge(input.value, say, min)
      if (score === undefined) delete meter.dataset.score
      else meter.dataset.score = score
      // The same text again would be announced again.
      if (meter.textContent !== text) meter.textContent = text
    }
    meters.push(show)
    input.addEventListener('input', show)
    input.addEventListener('focus', () => loadEstimate(say.strength))
    if (document.activeElement === input) loadEstimate(say.strength)
  }
  // A large file: loaded when a user is about to type. Without it length and variety count.
  function loadEstimate(src) {
    if (asked) return
    asked = true
    addEventListener('password-strength', (event) => {
      estimate = event.detail
      for (const show of meters) show()
    })
    document.head.append(Object.assign(document.createElement('script'), { src, nonce, async: true }))
  }
  function judge(value, say, min) {
    const letters = Array.from(value.normalize('NFKC'))
    if (letters.length === 0) return { text: '' }
    if (letters.length < min) return { text: say.short.replace('{n}', letters.length).replace('{min}', min) }
    // Beyond these 128 the score no longer changes, and the time does.
    const score = estimate ? estimate(letters.slice(0, 128).join('')) : roughScore(letters, min)
    return { score, text: say['score' + score] }
  }
  function roughScore(letters, min) {
    const different = new Set(letters.map((one) => one.toLowerCase())).size
    let steps = 0
    for (let i = 1; i < letters.length; i++) if (Math.abs(letters[i].codePointAt(0) - letters[i - 1].codePointAt(0)) <= 1) steps++
    if (different < 6 || steps > letters.length / 2) return 1
    return letters.length >= min + 5 && different >= 10 ? 4 : 3
  }
})()`
