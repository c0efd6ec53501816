import { component$, Slot } from '@builder.io/qwik'
import { Form } from '@builder.io/qwik-city'
import { useSession, useSignOut } from './plugin@auth'

export default component$(() => {
  const session = useSession()
  const signOut = useSignOut()
  const user = session.value?.user
  return (
    <>
      <header>
        <a href="/">Playground</a>
        <nav class="row" aria-label="Pages">
          <a href="/protected/">Protected page</a>
          {user && (
            <>
              <a href="/account/">Your account</a>
              <span>
                Signed in as <b id="who">{user.name ?? user.email}</b>
              </span>
              <Form action={signOut}>
                <input type="hidden" name="redirectTo" value="/" />
                <button>Sign out</button>
              </Form>
            </>
          )}
        </nav>
      </header>
      <main>
        <Slot />
      </main>
    </>
  )
})
