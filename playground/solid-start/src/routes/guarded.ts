import type { APIEvent } from '@solidjs/start/server'
import { auth } from '../auth'

export async function GET(event: APIEvent): Promise<Response> {
  try {
    return Response.json(await auth.requireSession(event))
  } catch (refusal) {
    if (refusal instanceof Response) return refusal
    throw refusal
  }
}
