/** What the pages register. Their drawing, their style and their languages are loaded by the first request that shows a page. */
import { lazyObject, lazily, type Plugin } from 'authkernel/kernel'
import { deletedTexts } from './messages/deleted.ts'
import { checkOptions, type PagesPluginOptions } from './options.ts'
import { typedCookie } from './typed.ts'

const load = /* @__PURE__ */ lazily(() => import('./renderer.ts'))

/** Draws the sign-in, sign-out, error, verify-request and verify-confirm pages. */
export function pagesPlugin(options: PagesPluginOptions = {}): Plugin {
  checkOptions(options)
  const renderer = lazyObject(['render', 'refusal'], load, ({ createRenderer }) => createRenderer(options))
  return {
    name: 'pages',
    setup(kernel) {
      kernel.provide('pages', { render: (...args) => renderer.render(...args) })
      kernel.page('account', async (...args) => (await load()).accountPage(...args), { path: '/account' })
      kernel.page('accountDelete', async (...args) => (await load()).deletePage(...args), { path: '/account/delete' })
      kernel.route({ method: 'POST', path: '/account/delete', handler: async (ctx) => (await load()).deleteAccount(ctx) })
      kernel.messages(deletedTexts)
      kernel.mailTemplate('pages.deleted', { subject: 'pages.deleted', lines: ['pages.deleted-text'], note: 'pages.deleted-note' })
      kernel.route({ method: 'POST', path: '/account/sessions/end', handler: async (ctx) => (await load()).endOne(ctx) })
      kernel.route({ method: 'POST', path: '/account/sessions/end-all', handler: async (ctx) => (await load()).endAll(ctx) })
      // The answer is the page itself: what was typed stays out of addresses.
      kernel.route({
        method: 'POST',
        path: '/identifier',
        fallback: true,
        handler: async (ctx) => (await load()).continueWithIdentifier(ctx),
      })
      kernel.preload(async () => load())
      kernel.cookie(typedCookie)
      kernel.hook('failure', async ({ error, ctx }) => {
        const refusal = await renderer.refusal(ctx, error)
        if (!refusal) await (await load()).keepTyped(ctx, error)
        return refusal
      })
    },
  }
}
