/** HTTP: opening a link, the sections, and their forms. */
import { AuthError, type Context, HttpError, type Kernel, redirectTo } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'
import { PortalInput, PortalLinkInvalid } from './errors.ts'
import { openLink } from './links.ts'
import { listVisible, pathOf, renderRefusal } from './pages.ts'
import type { PortalOutcome } from './sections.ts'
import { isMultipart, readUpload } from './upload.ts'
import { findVisit, linkTokens, portalCookie } from './visit.ts'

const textLimit = 600_000

/** Registers the routes. */
export function addRoutes(kernel: Kernel, plugin: PluginInstance): void {
  kernel.route({ method: 'GET', path: '/portal/open', handler: keepToken })
  kernel.route({
    method: 'POST',
    path: '/portal/open',
    async handler(ctx) {
      const [entry] = await linkTokens.all(ctx)
      await linkTokens.drop(ctx, ['link'])
      const { session, seconds } = await openLink(ctx, entry?.token ?? '')
      portalCookie.set(ctx, session, { maxAge: seconds })
      return redirectTo(`${ctx.base}/portal`)
    },
  })
  kernel.route({ method: 'GET', path: '/portal', handler: (ctx) => ctx.render('portal', { section: 'overview', ...queryOf(ctx) }) })
  kernel.route({
    method: 'POST',
    path: '/portal/close',
    handler(ctx) {
      portalCookie.delete(ctx)
      return redirectTo(`${ctx.base}/portal`)
    },
  })
  kernel.route({
    method: 'GET',
    path: '/portal/:section',
    handler: (ctx) => ctx.render('portal', { ...queryOf(ctx), section: ctx.params['section'] ?? '' }),
  })
  kernel.route({
    method: 'POST',
    path: '/portal/:section',
    body: { bytes: textLimit, types: ['form'] },
    handler: async (ctx) => actIn(plugin, ctx, textsOf(await ctx.form())),
  })
  // A form with a file is multipart, whose CSRF token the kernel does not read: the Origin proves it.
  kernel.route({
    method: 'POST',
    path: '/portal/:section/upload',
    csrf: 'origin',
    body: { bytes: textLimit, types: ['binary', 'form'] },
    handler: async (ctx) => actIn(plugin, ctx, isMultipart(ctx) ? await readUpload(ctx) : textsOf(await ctx.form())),
  })
}

/** Opening it uses nothing up. The answer leads to the same page without the token. */
async function keepToken(ctx: Context): Promise<Response> {
  const token = ctx.url.searchParams.get('token')
  if (token === null) return ctx.render('portalOpen')
  if (/^[0-9a-f]{64}$/.test(token)) await linkTokens.add(ctx, 'link', { token })
  return new Response(null, {
    status: 302,
    headers: { Location: `${ctx.base}/portal/open`, 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'no-referrer' },
  })
}

async function actIn(plugin: PluginInstance, ctx: Context, fields: Readonly<Record<string, string>>): Promise<Response> {
  const visit = await findVisit(ctx, plugin)
  if (!visit) throw new PortalLinkInvalid('portal: this browser has opened no link that counts.')
  const section = (await listVisible(visit, plugin)).find(({ id }) => id === ctx.params['section'])
  if (!section?.act) throw new HttpError(404, 'There is no such section.')
  try {
    const outcome: PortalOutcome = await section.act(visit, fields['action'] ?? '', fields)
    if (outcome instanceof Response) return outcome
    const { section: next = section.id, query = {}, card } = outcome ?? {}
    return redirectTo(`${ctx.base}${pathOf(next, { ...query, done: '1' })}${card === undefined ? '' : `#${card}`}`)
  } catch (error) {
    const refusal = error instanceof HttpError && error.status < 500 ? new PortalInput(`portal: ${error.message}`) : error
    if (!(refusal instanceof AuthError) || refusal.status >= 500) throw error
    return renderRefusal(ctx, section.id, { error: refusal, fields })
  }
}

function textsOf(form: URLSearchParams): Record<string, string> {
  const fields: Record<string, string> = {}
  form.forEach((value, name) => {
    if (name !== '__proto__' && name !== 'csrfToken') fields[name] = value
  })
  return fields
}

function queryOf(ctx: Context): Record<string, string> {
  return textsOf(ctx.url.searchParams)
}
