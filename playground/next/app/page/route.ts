import { auth } from '../../auth'

export const GET = async (): Promise<Response> => Response.json(await auth())
