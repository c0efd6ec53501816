'use client'

import { useActionState } from 'react'
import { withPassword } from './actions'

export function PasswordForm() {
  const [code, action] = useActionState(withPassword, undefined)
  return (
    <section>
      <h2>Password</h2>
      <form action={action}>
        <label>
          Username <input name="username" autoComplete="username" required />
        </label>
        <label>
          Password <input name="password" type="password" autoComplete="current-password" required />
        </label>
        {code && <p role="alert">That did not work: {code}</p>}
        <button>Sign in with password</button>
      </form>
    </section>
  )
}
