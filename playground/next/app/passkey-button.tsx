'use client'

import { useState } from 'react'
import { signInWithPasskey } from './client'

export function PasskeyButton() {
  const [message, show] = useState('')
  return (
    <section>
      <h2>Passkey</h2>
      <button type="button" onClick={() => signInWithPasskey({ redirectTo: '/' }).catch((error: Error) => show(error.name))}>
        Sign in with a passkey
      </button>
      <p role="alert">{message}</p>
    </section>
  )
}
