/** For pages: `definePageMeta({ middleware: 'member' })`. What a page asks of the server is guarded there. */
export default defineNuxtRouteMiddleware((to) => {
  if (useSession().value?.user) return
  return navigateTo(`/auth/signin?callbackUrl=${encodeURIComponent(to.fullPath)}`, { external: true })
})
