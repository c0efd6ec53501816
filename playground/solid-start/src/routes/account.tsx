import { createAsync } from '@solidjs/router'
import { createSignal, Show } from 'solid-js'
import { registerPasskey } from '../client'
import { requireSession } from '../session'

export default function Account() {
  const session = createAsync(() => requireSession(), { deferStream: true })
  const [message, show] = createSignal('')
  async function add() {
    try {
      const { ok, error } = await registerPasskey()
      show(ok ? 'Passkey added.' : `That did not work: ${error}`)
    } catch (error) {
      show(`That did not work: ${(error as Error).name}`)
    }
  }
  return (
    <Show when={session()?.user}>
      {(user) => (
        <>
          <h1>Your account</h1>
          <p>{user().email}</p>
          <button type="button" onClick={add}>
            Add a passkey
          </button>
          <p role="status">{message()}</p>
        </>
      )}
    </Show>
  )
}
