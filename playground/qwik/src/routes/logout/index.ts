import type { RequestHandler } from '@builder.io/qwik-city'
import { auth } from '../../auth'

export const onPost: RequestHandler = async (event) => {
  await auth.qwik.signOut(event, { redirectTo: '/out' })
}
