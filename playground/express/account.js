// Adds a passkey to the account of the signed-in person: the ceremony is the browser's, the rest is authkernel/client.
import { registerPasskey } from './client.js'

const button = document.querySelector('#add-passkey')
const message = document.querySelector('#passkey-message')

button.addEventListener('click', async () => {
  button.disabled = true
  message.textContent = await add()
  button.disabled = false
})

async function add() {
  try {
    const { ok } = await registerPasskey()
    if (!ok) return 'The server refused the passkey.'
    location.reload()
    return ''
  } catch (error) {
    return error.name === 'InvalidStateError' ? 'This device already has one.' : 'That was cancelled.'
  }
}
