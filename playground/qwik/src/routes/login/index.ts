import type { RequestHandler } from '@builder.io/qwik-city'
import { auth } from '../../auth'

export const onPost: RequestHandler = async (event) => {
  await auth.qwik.signIn(event, 'credentials', { fields: (await event.parseBody()) as Record<string, unknown>, redirectTo: '/in' })
}
