'use client'

import { useState } from 'react'
import { registerPasskey } from '../client'

export function AddPasskey() {
  const [message, show] = useState('')
  async function add() {
    try {
      const { ok, error } = await registerPasskey()
      show(ok ? 'Passkey added.' : `That did not work: ${error}`)
    } catch (error) {
      show(`That did not work: ${(error as Error).name}`)
    }
  }
  return (
    <>
      <button type="button" onClick={add}>
        Add a passkey
      </button>
      <p role="status">{message}</p>
    </>
  )
}
