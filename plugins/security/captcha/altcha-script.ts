/** Solves the proof of work in the browser: from the first key press, so that it is done when somebody presses the button. */

export const altchaScript = `(() => {
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const raw = (text) => new Uint8Array(text.match(/../g).map((pair) => parseInt(pair, 16)))
  async function solve({ parameters: { nonce, salt, cost, keyLength, keyPrefix } }) {
    const start = raw(nonce)
    const password = new Uint8Array(start.length + 4)
    password.set(start)
    for (let counter = 0; ; counter++) {
      new DataView(password.buffer).setUint32(start.length, counter)
      const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits'])
      const bits = await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: raw(salt), iterations: cost }, key, keyLength * 8)
      const derivedKey = hex(new Uint8Array(bits))
      if (derivedKey.startsWith(keyPrefix)) return { counter, derivedKey }
    }
  }
  for (const box of document.querySelectorAll('[data-altcha]:not([data-ready])')) {
    box.dataset.ready = ''
    const form = box.closest('form')
    const [input, status] = [box.querySelector('input'), box.querySelector('[role=status]')]
    const challenge = JSON.parse(box.dataset.altcha)
    let work
    const begin = () => (work ??= solve(challenge).then((solution) => {
      input.value = btoa(JSON.stringify({ challenge, solution }))
      status.textContent = box.dataset.done
    }, () => {
      status.textContent = box.dataset.failed
    }))
    form.addEventListener('focusin', begin, { once: true })
    form.addEventListener('submit', (event) => {
      if (input.value) return
      event.preventDefault()
      event.stopImmediatePropagation()
      status.textContent = box.dataset.working
      const { submitter } = event
      begin().then(() => input.value && form.requestSubmit(submitter))
    }, true)
  }
})()`
