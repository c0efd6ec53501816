import { createAsync } from '@solidjs/router'
import { Show } from 'solid-js'
import { requireSession } from '../session'

export default function Protected() {
  const session = createAsync(() => requireSession(), { deferStream: true })
  return (
    <Show when={session()?.user}>
      {(user) => (
        <>
          <h1>Only you can see this.</h1>
          <p>{user().email}</p>
        </>
      )}
    </Show>
  )
}
