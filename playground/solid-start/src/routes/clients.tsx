// Auth.js' own client, unmodified.
import { signIn, signOut } from '@auth/solid-start/client'
import { createAsync } from '@solidjs/router'
import { getSession } from '../session'

export default function Clients() {
  const session = createAsync(() => getSession(), { deferStream: true })
  const here = () => location.href
  return (
    <>
      <h1>Clients</h1>
      <p id="name">{session()?.user?.name ?? 'nobody'}</p>
      <button type="button" onClick={() => signIn('credentials', { username: 'demo', password: 'playground', redirectTo: here() })}>
        Auth.js: sign in
      </button>
      <button type="button" onClick={() => signIn('acme', { redirectTo: here() })}>
        Auth.js: Acme ID
      </button>
      <button type="button" onClick={() => signOut({ callbackUrl: here() })}>
        Auth.js: sign out
      </button>
    </>
  )
}
