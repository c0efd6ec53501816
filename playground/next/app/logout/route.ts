import { signOut } from '../../auth'

export async function POST(): Promise<Response> {
  return Response.redirect(await signOut({ redirectTo: '/out', redirect: false }), 303)
}
