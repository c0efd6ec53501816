/** The account page with its forms, and the form that begins a sign-in with an address or a name. */
import type { Kernel, Lazy } from 'authkernel/kernel'

/** `load` brings the code of the pages, at the first request. */
export function addRoutes(kernel: Kernel, load: Lazy<typeof import('./draw.ts')>): void {
  kernel.page('account', async (...args) => (await load()).accountPage(...args), { path: '/account' })
  kernel.route({ method: 'POST', path: '/account/disconnect', handler: async (ctx) => (await load()).disconnectMethod(ctx) })
  kernel.page('accountDelete', async (...args) => (await load()).deletePage(...args), { path: '/account/delete' })
  kernel.route({ method: 'POST', path: '/account/delete', handler: async (ctx) => (await load()).deleteAccount(ctx) })
  kernel.route({ method: 'POST', path: '/account/sessions/end', handler: async (ctx) => (await load()).endOne(ctx) })
  kernel.route({ method: 'POST', path: '/account/sessions/end-all', handler: async (ctx) => (await load()).endAll(ctx) })
  kernel.route({
    method: 'POST',
    path: '/identifier',
    fallback: true,
    // The response is the page itself, so that what was typed stays out of addresses.
    handler: async (ctx) => (await load()).continueWithIdentifier(ctx),
  })
  // `client.pages`, which ready-made components call.
  kernel.route({
    method: 'GET',
    path: '/pages/get-features',
    client: 'pages.getFeatures',
    public: true,
    handler: async (ctx) => (await load()).answerFeatures(ctx),
  })
  kernel.route({
    method: 'POST',
    path: '/pages/begin-sign-in',
    client: 'pages.beginSignIn',
    body: { types: ['json'] },
    handler: async (ctx) => (await load()).continueWithIdentifier(ctx),
  })
}
