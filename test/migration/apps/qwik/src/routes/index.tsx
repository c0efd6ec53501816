import { component$ } from '@builder.io/qwik'
import { Form } from '@builder.io/qwik-city'
import { useSession, useSignIn, useSignOut } from './plugin@auth'

export default component$(() => {
  const session = useSession()
  const signIn = useSignIn()
  const signOut = useSignOut()
  return (
    <>
      <p id="who">{session.value?.user?.name ?? 'nobody'}</p>
      <p id="role">{String(session.value?.role ?? 'none')}</p>
      {session.value ? (
        <Form action={signOut}>
          <input type="hidden" name="redirectTo" value="/" />
          <button>Sign out</button>
        </Form>
      ) : (
        <Form action={signIn}>
          <input type="hidden" name="providerId" value="acme" />
          <input type="hidden" name="options.redirectTo" value="/" />
          <button>Sign in</button>
        </Form>
      )}
    </>
  )
})
