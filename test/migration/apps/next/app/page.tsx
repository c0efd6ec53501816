import { auth, signIn, signOut } from '../auth'
import { Client } from './client'

export default async function Home() {
  const session = await auth()
  return (
    <>
      <p id="who">{session?.user?.name ?? 'nobody'}</p>
      <p id="role">{session?.user?.role ?? 'none'}</p>
      <Client />
      {session ? (
        <form
          action={async () => {
            'use server'
            await signOut({ redirectTo: '/' })
          }}
        >
          <button>Sign out</button>
        </form>
      ) : (
        <form
          action={async () => {
            'use server'
            await signIn('acme', { redirectTo: '/' })
          }}
        >
          <button>Sign in</button>
        </form>
      )}
    </>
  )
}
