/** What the pages register. Their code, their style and their languages are loaded by the first request that shows a page. */
import { lazily, lazyObject, type Plugin } from 'authkernel/kernel'
import { mailMessages } from './messages/mail.ts'
import { checkPagesOptions, type PagesPluginOptions } from './options.ts'
import { addRoutes } from './routes.ts'
import { typedCookie } from './typed-fields.ts'

const load = /* @__PURE__ */ lazily(() => import('./draw.ts'))

/** Draws the sign-in, sign-out, error, verify-request and verify-confirm pages, and the account page. */
export function pagesPlugin(options: PagesPluginOptions = {}): Plugin {
  checkPagesOptions(options)
  const renderer = lazyObject(['render', 'refusal'], load, ({ createRenderer }) => createRenderer(options))
  return {
    name: 'pages',
    setup(kernel) {
      kernel.provide('pages', { render: (...args) => renderer.render(...args) })
      addRoutes(kernel, load)
      kernel.messages(mailMessages)
      kernel.mailTemplate('pages.deleted', { subject: 'pages.deleted', lines: ['pages.deleted-text'], note: 'pages.deleted-note' })
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
