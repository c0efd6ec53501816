import { component$, useSignal } from '@builder.io/qwik'
import { routeLoader$ } from '@builder.io/qwik-city'
import { registerPasskey } from 'authkernel/client'
import { auth } from '../../auth'

export const useMember = routeLoader$((event) => auth.qwik.requireSession(event))

export default component$(() => {
  const session = useMember()
  const message = useSignal('')
  return (
    <>
      <h1>Your account</h1>
      <p>{session.value.user?.email}</p>
      <button
        type="button"
        onClick$={async () => {
          try {
            const { ok, error } = await registerPasskey()
            message.value = ok ? 'Passkey added.' : `That did not work: ${error}`
          } catch (error) {
            message.value = `That did not work: ${(error as Error).name}`
          }
        }}
      >
        Add a passkey
      </button>
      <p role="status">{message.value}</p>
    </>
  )
})
