import { signOut } from '../../auth'

export const POST = async (event) => new Response(await signOut(event, { redirectTo: '/out' }))
