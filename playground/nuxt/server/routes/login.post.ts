export default defineEventHandler(async (event) =>
  auth.signIn(event, 'credentials', { fields: await readBody<Record<string, string>>(event), redirectTo: '/in' }),
)
