import { createAsync, Router } from '@solidjs/router'
import { FileRoutes } from '@solidjs/start/router'
import { type ParentProps, Show, Suspense } from 'solid-js'
import { getSession, signOut } from './session'

export default function App() {
  return (
    <Router root={Layout}>
      <FileRoutes />
    </Router>
  )
}

function Layout(props: ParentProps) {
  const session = createAsync(() => getSession(), { deferStream: true })
  return (
    <Suspense>
      <header>
        <a href="/">Playground</a>
        <nav class="row" aria-label="Pages">
          <a href="/protected">Protected page</a>
          <Show when={session()?.user}>
            {(user) => (
              <>
                <a href="/account">Your account</a>
                <span>
                  Signed in as <b id="who">{user().name ?? user().email}</b>
                </span>
                <form action={signOut} method="post">
                  <button>Sign out</button>
                </form>
              </>
            )}
          </Show>
        </nav>
      </header>
      <main>{props.children}</main>
    </Suspense>
  )
}
