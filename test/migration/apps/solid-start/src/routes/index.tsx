import { signIn, signOut } from '@auth/solid-start/client'
import { createAsync } from '@solidjs/router'
import { Show, Suspense } from 'solid-js'
import { currentSession } from '../session'

export default function Home() {
  const session = createAsync(() => currentSession(), { deferStream: true })
  return (
    <Suspense>
      <p id="who">{session()?.user?.name ?? 'nobody'}</p>
      <p id="role">{String(session()?.role ?? 'none')}</p>
      <Show when={session()} fallback={<button onClick={() => void signIn('acme')}>Sign in</button>}>
        <button onClick={() => void signOut()}>Sign out</button>
      </Show>
    </Suspense>
  )
}
