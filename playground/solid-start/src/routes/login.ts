import type { APIEvent } from '@solidjs/start/server'
import { auth } from '../auth'

export async function POST(event: APIEvent): Promise<Response> {
  const fields = Object.fromEntries(await event.request.formData())
  return auth.signIn(event, 'credentials', { fields, redirectTo: '/in' })
}
