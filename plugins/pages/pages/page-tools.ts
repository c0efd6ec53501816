/** For a service `pages` of a host. */
import type { Context, PageTools } from 'authkernel/kernel'
import { createSheet } from './layout.ts'
import { speakersOf } from './locale.ts'
import { createTools } from './tools.ts'

/** The tools of a page, for a service `pages` of one's own: `ctx.app.parts.pages.get(name)?.draw(ctx, pageTools(ctx, name), params)`. */
export function pageTools(ctx: Context, page: string): PageTools {
  const { config } = ctx.app
  const wanted = config.locale ? config.locale(ctx.request) : ctx.request.headers.get('accept-language')
  return createTools(createSheet(page, ctx, speakersOf(ctx.app)(wanted), config.theme))
}
