/** What the pages register. Their drawing, their style and their languages are loaded by the first request that shows a page. */
import { assertOptions, lazily, lazyObject, type Plugin } from 'authkernel/kernel'
import { deletedTexts } from './messages/deleted.ts'
import type { PagesPluginOptions } from './options.ts'
import { typedCookie } from './typed-cookie.ts'

const load = /* @__PURE__ */ lazily(() => import('./draw.ts'))

/** Draws the sign-in, sign-out, error, verify-request and verify-confirm pages. */
export function pagesPlugin(options: PagesPluginOptions = {}): Plugin {
  assertOptions('Plugin "pages"', options, { theme: true, messages: true, locale: true, formAction: true })
  assertOptions('Plugin "pages"', options.theme, { colorScheme: true, logo: true, brandColor: true, buttonText: true }, 'theme')
  const drawer = lazyObject(['render', 'refusal'], load, ({ createDrawer }) => createDrawer(options))
  return {
    name: 'pages',
    setup(kernel) {
      kernel.provide('pages', { render: (...given) => drawer.render(...given) })
      kernel.page('account', async (...given) => (await load()).accountPage(...given), { path: '/account' })
      kernel.page('accountDelete', async (...given) => (await load()).deletePage(...given), { path: '/account/delete' })
      kernel.route({ method: 'POST', path: '/account/delete', handler: async (ctx) => (await load()).deleteAccount(ctx) })
      kernel.messages(deletedTexts)
      kernel.mailTemplate('pages.deleted', { subject: 'pages.deleted', lines: ['pages.deleted-text'], note: 'pages.deleted-note' })
      kernel.route({ method: 'POST', path: '/account/sessions/end', handler: async (ctx) => (await load()).endOne(ctx) })
      kernel.route({ method: 'POST', path: '/account/sessions/end-all', handler: async (ctx) => (await load()).endAll(ctx) })
      // The answer is the page itself: what was typed stays out of addresses.
      kernel.route({ method: 'POST', path: '/identifier', fallback: true, handler: async (ctx) => (await load()).identify(ctx) })
      kernel.preload(async () => load())
      kernel.cookie(typedCookie)
      kernel.hook('failure', async ({ error, ctx }) => {
        const refusal = await drawer.refusal(ctx, error)
        if (!refusal) await (await load()).keepTyped(ctx, error)
        return refusal
      })
    },
  }
}
