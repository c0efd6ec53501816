import { $, component$, useSignal } from '@builder.io/qwik'
import { useSignIn, useSignOut } from '../plugin@auth'

/** What the actions answer to input that is wrong. */
export default component$(() => {
  const signIn = useSignIn()
  const signOut = useSignOut()
  const result = useSignal('')
  const call = $(async (name: string) => {
    const wrong = { redirectTo: 1 } as never
    const { value } = await (name === 'sign in' ? signIn.submit({ providerId: 2, ...(wrong as object) } as never) : signOut.submit(wrong))
    result.value = JSON.stringify(value)
  })
  return (
    <>
      <h1>Wrong input</h1>
      <button type="button" onClick$={() => call('sign in')}>
        Sign in wrongly
      </button>
      <button type="button" onClick$={() => call('sign out')}>
        Sign out wrongly
      </button>
      <pre id="result">{result.value}</pre>
    </>
  )
})
