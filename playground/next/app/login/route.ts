import { signIn } from '../../auth'

// A form of a page of yours would use an action. In a route handler Next redirects with 307, which posts the password on: ask for the URL.
export async function POST(request: Request): Promise<Response> {
  const fields = Object.fromEntries(await request.formData())
  return Response.redirect(await signIn('credentials', { ...fields, redirectTo: '/in', redirect: false }), 303)
}
