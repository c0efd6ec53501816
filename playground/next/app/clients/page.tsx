'use client'

// Auth.js' own client, unmodified.
import { SessionProvider, getCsrfToken, getProviders, getSession, signIn, signOut, useSession } from 'next-auth/react'
import { signIn as signInWithPasskey } from 'next-auth/webauthn'
import { useState } from 'react'

export default function Clients() {
  return (
    <SessionProvider>
      <h1>Clients</h1>
      <Controls />
    </SessionProvider>
  )
}

function Controls() {
  const { data, status, update } = useSession()
  const [result, show] = useState('')
  const tell = (value: unknown): void => show(JSON.stringify(value))
  const password = (word: string) => signIn('credentials', { username: 'demo', password: word, redirect: false })
  const buttons: Record<string, () => Promise<unknown>> = {
    'sign in': () => password('playground'),
    'wrong password': () => password('wrong'),
    'Acme ID': () => signIn('acme', { redirectTo: '/clients' }),
    'sign out': () => signOut({ redirect: false }),
    update: () => update({ name: 'Countess' }),
    session: getSession,
    providers: async () => Object.keys((await getProviders()) ?? {}),
    csrf: async () => (await getCsrfToken()).length,
    'add passkey': () => signInWithPasskey('passkey', { action: 'register', redirect: false }),
    passkey: () => signInWithPasskey('passkey', { redirect: false }),
  }
  return (
    <>
      <p id="status">{status}</p>
      <p id="name">{data?.user?.name ?? 'nobody'}</p>
      {Object.entries(buttons).map(([name, run]) => (
        <button key={name} type="button" onClick={() => run().then(tell, (error: Error) => tell({ thrown: error.name }))}>
          Auth.js: {name}
        </button>
      ))}
      <pre id="result">{result}</pre>
    </>
  )
}
