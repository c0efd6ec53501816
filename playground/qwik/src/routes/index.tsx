import { component$, useSignal } from '@builder.io/qwik'
import { Form, routeAction$ } from '@builder.io/qwik-city'
import { CredentialsSignin } from 'authkernel/bindings/qwik'
import { signInWithPasskey } from 'authkernel/client'
import { auth } from '../auth'
import { useSession, useSignIn } from './plugin@auth'

/** `useSignIn` leads to the page of the error; an action of your own shows it where you like. */
export const usePassword = routeAction$(async (fields, event) => {
  try {
    return await auth.qwik.signIn(event, 'credentials', { fields, redirectTo: '/' })
  } catch (error) {
    if (error instanceof CredentialsSignin) return event.fail(401, { code: error.code })
    // Qwik's redirect is thrown, too.
    throw error
  }
})

export default component$(() => {
  const session = useSession()
  const signIn = useSignIn()
  const password = usePassword()
  const message = useSignal('')
  const user = session.value?.user
  if (user) {
    return (
      <>
        <h1>Hello, {user.name ?? user.email}.</h1>
        <pre id="session">{JSON.stringify(session.value, null, 2)}</pre>
      </>
    )
  }
  return (
    <>
      <h1>Sign in</h1>
      <section>
        <Form action={signIn}>
          <input type="hidden" name="providerId" value="acme" />
          <button>Continue with Acme ID</button>
        </Form>
      </section>
      <section>
        <h2>Password</h2>
        <Form action={password}>
          <label>
            Username <input name="username" autocomplete="username" required />
          </label>
          <label>
            Password <input name="password" type="password" autocomplete="current-password" required />
          </label>
          {password.value?.failed && <p role="alert">That did not work: {password.value.code}</p>}
          <button>Sign in with password</button>
        </Form>
      </section>
      <section>
        <h2>Mail</h2>
        <Form action={signIn}>
          <input type="hidden" name="providerId" value="email" />
          <label>
            Email address <input name="options.email" type="email" autocomplete="email" required />
          </label>
          <button>Email me a link</button>
        </Form>
      </section>
      <section>
        <h2>Passkey</h2>
        <button
          type="button"
          onClick$={() => signInWithPasskey({ redirectTo: '/' }).catch((error: Error) => (message.value = error.name))}
        >
          Sign in with a passkey
        </button>
        <p role="alert">{message.value}</p>
      </section>
    </>
  )
})
