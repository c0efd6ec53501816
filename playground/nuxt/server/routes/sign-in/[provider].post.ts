import { CredentialsSignin } from 'authkernel/bindings/nuxt'

export default defineEventHandler(async (event) => {
  const fields = await readBody<Record<string, string>>(event)
  try {
    return await auth.signIn(event, getRouterParam(event, 'provider'), { fields, redirectTo: '/' })
  } catch (error) {
    if (error instanceof CredentialsSignin) return sendRedirect(event, `/?code=${error.code}`, 303)
    throw error
  }
})
