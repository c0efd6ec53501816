import { signIn } from '../../auth'

export const POST = async (event) => {
  const fields = Object.fromEntries(await event.request.formData())
  return new Response(await signIn(event, 'credentials', { fields, redirectTo: '/in' }))
}
