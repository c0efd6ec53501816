import type { APIEvent } from '@solidjs/start/server'
import { auth } from '../auth'

export const GET = async (event: APIEvent): Promise<Response> => Response.json(await auth.session(event))
