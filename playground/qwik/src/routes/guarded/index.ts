import type { RequestHandler } from '@builder.io/qwik-city'
import { auth } from '../../auth'

export const onGet: RequestHandler = async (event) => {
  event.json(200, await auth.qwik.requireSession(event))
}
