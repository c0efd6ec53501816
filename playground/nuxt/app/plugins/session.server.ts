export default defineNuxtPlugin(async () => {
  useSession().value = (await useRequestEvent()?.context.auth?.()) ?? null
})
