/** The section of the account page, its two pages without JavaScript, and what their forms post to. Their code comes with the first request that needs it. */
import { type AccountSection, type Kernel, lazily, type Lazy, type PageDraw } from 'authkernel/kernel'

/** Drawn and handled by this. */
export const loadAccount: Lazy<typeof import('./account.ts')> = /* @__PURE__ */ lazily(() => import('./account.ts'))

// Made once: several plugins of the type bring one section.
const section: AccountSection = { id: 'passkeys', order: 220, draw: async (...given) => (await loadAccount()).drawSection(...given) }
const drawRename: PageDraw = async (...given) => (await loadAccount()).drawRename(...given)
const drawRemove: PageDraw = async (...given) => (await loadAccount()).drawRemove(...given)

/** Adds the section `passkeys` of the account page. */
export function addAccountSection(kernel: Kernel): void {
  kernel.accountSection(section)
  kernel.page('passkeyRename', drawRename, { path: '/account/passkeys/rename' })
  kernel.page('passkeyRemove', drawRemove, { path: '/account/passkeys/remove' })
  kernel.route({
    method: 'POST',
    path: '/account/passkeys/:act',
    fallback: true,
    handler: async (ctx) => (await loadAccount()).handleAct(ctx),
  })
}
