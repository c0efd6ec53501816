export default defineNuxtConfig({
  compatibilityDate: '2026-11-01',
  devtools: { enabled: false },
  telemetry: false,
  app: {
    head: {
      title: 'Playground',
      htmlAttrs: { lang: 'en' },
      link: [
        { rel: 'icon', href: 'data:,' },
        { rel: 'stylesheet', href: '/style.css' },
      ],
    },
  },
})
