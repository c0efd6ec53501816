import { auth } from '../auth'
import { withProvider } from './actions'
import { PasskeyButton } from './passkey-button'
import { PasswordForm } from './password-form'

export default async function Home() {
  const session = await auth()
  if (session?.user) {
    return (
      <>
        <h1>Hello, {session.user.name ?? session.user.email}.</h1>
        <pre id="session">{JSON.stringify(session, null, 2)}</pre>
      </>
    )
  }
  return (
    <>
      <h1>Sign in</h1>
      <section>
        <form action={withProvider.bind(null, 'acme')}>
          <input type="hidden" name="redirectTo" value="/" />
          <button>Continue with Acme ID</button>
        </form>
      </section>
      <PasswordForm />
      <section>
        <h2>Mail</h2>
        <form action={withProvider.bind(null, 'email')}>
          <label>
            Email address <input name="email" type="email" autoComplete="email" required />
          </label>
          <button>Email me a link</button>
        </form>
      </section>
      <PasskeyButton />
    </>
  )
}
