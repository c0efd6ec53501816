/** The page of the accounts of a browser, and the way back to them from the sign-in page. Without JavaScript. */
import { AuthError, type Content, type Context, type Kernel, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import { addAccount, listAccounts, signOutAccounts, switchAccount, targetOf } from './browser-accounts.ts'
import { listCookie } from './tables.ts'

export function addPages(kernel: Kernel, max: number): void {
  kernel.page('switch', (ctx, tools, params) => drawAccounts(kernel, ctx, tools, params), { path: '/switch' })
  kernel.route({ method: 'POST', path: '/switch', handler: (ctx) => postAction(kernel, ctx, max) })
  kernel.slot('signIn', 'foot', (ctx, { html, say, base }) =>
    listCookie.get(ctx) === undefined
      ? undefined
      : { html: html`<p class="foot"><a href="${base}/switch">${say('multi-session.back')}</a></p>` },
  )
  kernel.accountSection({
    id: 'switch',
    order: 350,
    draw: (_ctx, { say, link }) => ({ heading: say('multi-session.title'), body: link(say('multi-session.open'), '/switch') }),
  })
}

async function drawAccounts(
  kernel: Kernel,
  ctx: Context,
  { html, say, form, submit, alert }: PageTools,
  { error, callbackUrl }: Readonly<Record<string, string | undefined>>,
): Promise<PageView | Response> {
  const accounts = await listAccounts(kernel, ctx)
  if (accounts.length === 0) return ctx.page('signIn')
  const body: Content[] = [alert(error)]
  for (const { id, name, email, current } of accounts) {
    const forms =
      id === null
        ? callbackUrl !== undefined && (await form('/switch', submit(say('multi-session.keep')), { action: 'keep', callbackUrl }))
        : [
            await form('/switch', submit(say('multi-session.use')), { action: 'switch', id, callbackUrl }),
            await form('/switch', submit(say('multi-session.sign-out'), { quiet: true }), { action: 'signOut', id }),
          ]
    body.push(
      html`<section class="item">
        <h2>${name ?? email}</h2>
        <p>${name !== null && email}${current && html` <b>${say('multi-session.current')}</b>`}</p>
        ${forms}
      </section>`,
    )
  }
  body.push(await form('/switch', submit(say('multi-session.add')), { action: 'add', callbackUrl }))
  body.push(await form('/switch', submit(say('multi-session.all'), { quiet: true }), { action: 'all' }))
  return { title: say('multi-session.title'), body, ...(error !== undefined && { status: 400 }) }
}

async function postAction(kernel: Kernel, ctx: Context, max: number): Promise<Response> {
  const { action, id, callbackUrl } = await ctx.body()
  try {
    if (action === 'add') return await addAccount(kernel, ctx, max, callbackUrl === undefined ? undefined : await targetOf(ctx))
    // The account that is used stays: back to what asked for a choice.
    if (action === 'keep') return redirectTo(await targetOf(ctx))
    if (action === 'switch') return await switchAccount(kernel, ctx, String(id), await targetOf(ctx))
    if (action === 'all') await signOutAccounts(kernel, ctx, 'all')
    if (action === 'signOut' && typeof id === 'string' && id !== 'all') await signOutAccounts(kernel, ctx, id)
    return redirectTo(`${ctx.base}${action === 'all' ? '/signin' : '/switch'}`)
  } catch (error) {
    if (!(error instanceof AuthError) || error.status >= 500) throw error
    return redirectTo(`${ctx.base}/switch?error=${encodeURIComponent(error.type)}`)
  }
}
