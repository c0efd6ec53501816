/** The way back to an app, where a redirect would not arrive. */
import type { Context, Kernel } from 'authkernel/kernel'

/** Adds the page. It has no separate route. Its texts are `<plugin>.return` and `<plugin>.continue`. */
export function addReturnPage(kernel: Kernel, page: string, plugin: string): void {
  kernel.page(page, (_ctx, { say, link }, { to = '' }) => ({
    title: say(`${plugin}.return`),
    body: link(say(`${plugin}.continue`), to),
  }))
}

/**
 * A redirect to an app as it is, unless the browser came here by a form of this site: Chromium compares redirects with `form-action` of the page that had
 * the form, and a sign-in page names no apps. Then the page leads on by its header `Refresh`.
 */
export async function leadToApp(ctx: Context, page: string, response: Response): Promise<Response> {
  const to = response.headers.get('location')
  const isByOwnPage = ctx.request.headers.get('sec-fetch-site') === 'same-origin'
  if (to === null || !isByOwnPage || new URL(to, ctx.origin).origin === ctx.origin) return response
  const drawn = await ctx.render(page, { to })
  const headers = new Headers(drawn.headers)
  headers.set('Refresh', `0; url=${to}`)
  headers.set('Referrer-Policy', 'no-referrer')
  return new Response(drawn.body, { status: drawn.status, headers })
}
