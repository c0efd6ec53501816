import type { APIEvent } from '@solidjs/start/server'
import { auth } from '../auth'

export const POST = (event: APIEvent): Promise<Response> => auth.signOut(event, { redirectTo: '/out' })
