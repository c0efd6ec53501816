import { component$ } from '@builder.io/qwik'
import { Form, routeAction$, useNavigate } from '@builder.io/qwik-city'
import { useSession as useWatched, useSessionProvider } from 'authkernel/qwik'
import { auth } from '../../auth'
import { useSession } from '../plugin@auth'

/** Signs out by an action of the server, which the client of the tab knows nothing of. */
export const useLeave = routeAction$(async (_fields, event) => {
  await auth.qwik.signOut(event, { redirectTo: '/session/?left' })
})

const Who = component$<{ id: string }>(({ id }) => {
  const { state } = useWatched()
  const { status, session } = state.value
  return <p id={id}>{status === 'authenticated' ? `Hello ${session.user?.name}` : status}</p>
})

/** The session of the tab: known from the server's HTML on, and the same in every component and tab. */
export default component$(() => {
  const rendered = useSession()
  const { signIn, signOut } = useSessionProvider({ session: rendered })
  const leave = useLeave()
  const navigate = useNavigate()
  return (
    <>
      <h1>The session of this tab</h1>
      <Who id="one" />
      <Who id="two" />
      <button id="in" onClick$={() => signIn('credentials', { username: 'demo', password: 'playground', redirect: false })}>
        Sign in here
      </button>
      <button id="out" onClick$={() => signOut({ redirect: false })}>
        Sign out here
      </button>
      <Form action={leave}>
        <button id="action">Sign out by an action</button>
      </Form>
      <button id="go" onClick$={() => navigate(`/session/?at=${Date.now()}`)}>
        Go on
      </button>
    </>
  )
})
