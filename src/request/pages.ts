/** Pages: a redirect to one, or one drawn here and now. */
import type { Context } from '../contract/context.ts'
import type { PageName } from '../contract/services.ts'
import { AuthError } from '../errors/index.ts'
import { withParams } from '../http/redirect.ts'
import { redirectTo, text } from '../http/messages.ts'

const paths = { signIn: '/signin', signOut: '/signout', error: '/error', verifyRequest: '/verify-request' } as const

/** Redirect to a page: the host's own URL or the built-in one. Throws AuthError for a page that no address leads to. */
export function pageRedirect(ctx: Context, name: PageName | 'newUser', params: Record<string, string | undefined>): Response {
  if (name === 'newUser') return redirectTo(withParams(ctx.app.config.pages.newUser ?? ctx.origin, params))
  const path = isBuiltIn(name) ? paths[name] : ctx.app.parts.pages.get(name)?.path
  if (path !== undefined) return redirectTo(withParams(ctx.base + path, params))
  const own = ctx.app.config.pages[name]
  if (own !== undefined) return redirectTo(withParams(own, params))
  throw new AuthError(`The page "${name}" has no address: give kernel.page a \`path\`, or the option \`pages.${name}\`.`)
}

/** The service `pages`, or plain text where no plugin provides it. A host's own page takes the place of a plugin's. */
export async function renderPage(ctx: Context, name: PageName, params: Readonly<Record<string, string | undefined>>): Promise<Response> {
  const { services, config } = ctx.app
  const own = isBuiltIn(name) ? undefined : config.pages[name]
  if (own !== undefined) return redirectTo(withParams(own, params))
  return services.pages ? services.pages.render(name, ctx, params) : text(params['error'] ?? name)
}

function isBuiltIn(name: string): name is keyof typeof paths {
  return Object.hasOwn(paths, name)
}
