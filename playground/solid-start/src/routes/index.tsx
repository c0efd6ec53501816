import { createAsync, useSubmission } from '@solidjs/router'
import { createSignal, Show } from 'solid-js'
import { signInWithPasskey } from '../client'
import { getSession, signIn } from '../session'

export default function Home() {
  const session = createAsync(() => getSession(), { deferStream: true })
  return (
    <Show when={session()?.user} fallback={<SignIn />}>
      {(user) => (
        <>
          <h1>Hello, {user().name ?? user().email}.</h1>
          <pre id="session">{JSON.stringify(session(), null, 2)}</pre>
        </>
      )}
    </Show>
  )
}

function SignIn() {
  const submission = useSubmission(signIn)
  const [message, show] = createSignal('')
  return (
    <>
      <h1>Sign in</h1>
      <section>
        <form action={signIn} method="post">
          <input type="hidden" name="providerId" value="acme" />
          <button>Continue with Acme ID</button>
        </form>
      </section>
      <section>
        <h2>Password</h2>
        <form action={signIn} method="post">
          <input type="hidden" name="providerId" value="credentials" />
          <label>
            Username <input name="username" autocomplete="username" required />
          </label>
          <label>
            Password <input name="password" type="password" autocomplete="current-password" required />
          </label>
          <Show when={submission.result?.code}>{(code) => <p role="alert">That did not work: {code()}</p>}</Show>
          <button>Sign in with password</button>
        </form>
      </section>
      <section>
        <h2>Mail</h2>
        <form action={signIn} method="post">
          <input type="hidden" name="providerId" value="email" />
          <label>
            Email address <input name="email" type="email" autocomplete="email" required />
          </label>
          <button>Email me a link</button>
        </form>
      </section>
      <section>
        <h2>Passkey</h2>
        <button type="button" onClick={() => signInWithPasskey({ redirectTo: '/' }).catch((error: Error) => show(error.name))}>
          Sign in with a passkey
        </button>
        <p role="alert">{message()}</p>
      </section>
    </>
  )
}
