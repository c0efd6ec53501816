import { component$ } from '@builder.io/qwik'
import { routeLoader$ } from '@builder.io/qwik-city'
import { auth } from '../../auth'

export const useMember = routeLoader$((event) => auth.qwik.requireSession(event))

export default component$(() => {
  const session = useMember()
  return (
    <>
      <h1>Only you can see this.</h1>
      <p>{session.value.user?.email}</p>
    </>
  )
})
