/** Pages: a redirect to one, or one drawn here and now. */
import type { Context } from '../contract/context.ts'
import type { PageName } from '../contract/services.ts'
import { withParams } from '../http/redirect.ts'
import { redirectTo, text } from '../http/responses.ts'

const paths = { signIn: '/signin', signOut: '/signout', error: '/error', verifyRequest: '/verify-request' } as const

/** Redirect to a page: the host's own URL or the built-in one. */
export function pageRedirect(ctx: Context, name: keyof typeof paths | 'newUser', params: Record<string, string | undefined>): Response {
  const target = name === 'newUser' ? (ctx.app.config.pages.newUser ?? ctx.origin) : ctx.base + paths[name]
  return redirectTo(withParams(target, params))
}

/** The service `pages`, or plain text where no plugin provides it. */
export async function renderPage(ctx: Context, name: PageName, params: Readonly<Record<string, string | undefined>>): Promise<Response> {
  const { pages } = ctx.app.services
  return pages ? pages.render(name, ctx, params) : text(params['error'] ?? name)
}
