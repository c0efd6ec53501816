/** The page between the sign-out here and the one at the provider, where a URL would be too long. */
import { type Kernel, redirectTo } from 'authkernel/kernel'
import type { Hints } from './hints.ts'
import type { ResolvedOptions } from './options.ts'
import { requestToPost } from './sign-out.ts'

/** `hints` are known once the app is compiled. */
export function addPage(kernel: Kernel, hints: () => Hints, options: ResolvedOptions): void {
  kernel.page(
    'singleLogout',
    async (ctx, { html, say }, { state = '' }) => {
      const request = await requestToPost(ctx, hints(), options, state)
      if (!request) return redirectTo(`${ctx.origin}/`)
      const { endpoint, parameters } = request
      const fields = Object.entries(parameters).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)
      const button = html`<button type="submit">${say('single-logout.continue')}</button>`
      return {
        title: say('single-logout.title'),
        lead: say('single-logout.lead'),
        body: html`<form id="single-logout" method="post" action="${endpoint}">${fields}${button}</form>`,
        scripts: ["document.getElementById('single-logout').submit()"],
        forms: [new URL(endpoint).origin],
      }
    },
    { path: '/signing-out' },
  )
}
