import { component$ } from '@builder.io/qwik'
import type { RequestHandler } from '@builder.io/qwik-city'
import { useSession } from '../plugin@auth'

export const onRequest: RequestHandler = (event) => {
  if (!event.sharedMap.get('session')) throw event.redirect(302, '/auth/signin?callbackUrl=/protected')
}

export default component$(() => {
  const session = useSession()
  return <h1>For {session.value?.user?.name}</h1>
})
