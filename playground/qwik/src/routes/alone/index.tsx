import { component$ } from '@builder.io/qwik'
import { useSession } from 'authkernel/qwik'

const Who = component$<{ id: string }>(({ id }) => {
  const { state } = useSession()
  return <p id={id}>{state.value.session?.user?.name ?? state.value.status}</p>
})

/** Without a provider: components share one request of the tab. */
export default component$(() => (
  <>
    <h1>Without a provider</h1>
    <Who id="one" />
    <Who id="two" />
  </>
))
