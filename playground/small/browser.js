import { registerPasskey, signInWithPasskey } from 'authkernel/client'

const message = document.querySelector('#message')

document.querySelector('#passkey')?.addEventListener('click', () => {
  signInWithPasskey({ redirectTo: '/' }).catch((error) => (message.textContent = error.name))
})

document.querySelector('#add-passkey')?.addEventListener('click', async () => {
  try {
    const { ok, error } = await registerPasskey()
    message.textContent = ok ? 'Passkey added.' : `That did not work: ${error}`
  } catch (error) {
    message.textContent = `That did not work: ${error.name}`
  }
})
