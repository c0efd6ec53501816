/** The page of the accounts of a browser, and the way back to them from the sign-in page. Without JavaScript. */
import { AuthError, type Content, type Context, type Kernel, type PageTools, type PageView, redirectTo, type Tone } from 'authkernel/kernel'
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
    draw: (_ctx, { say, buttonLink }) => ({
      heading: say('multi-session.title'),
      actions: buttonLink(say('multi-session.open'), '/switch'),
    }),
  })
}

async function drawAccounts(
  kernel: Kernel,
  ctx: Context,
  { html, say, form, button, alert, card, row, tag, avatar }: PageTools,
  { error, callbackUrl }: Readonly<Record<string, string | undefined>>,
): Promise<PageView | Response> {
  const accounts = await listAccounts(kernel, ctx)
  if (accounts.length === 0) return ctx.page('signIn')
  const drawOne = async ({ id, name, email, current }: (typeof accounts)[number], at: number): Promise<Content> => {
    const describedBy = `account-${at}`
    const act = async (label: string, tone: Tone, values: Record<string, string | undefined>): Promise<Content> =>
      form('/switch', button(say(label), { tone, describedBy }), values)
    return row({
      id: describedBy,
      title: html`<bdi>${name ?? email}</bdi>`,
      text: name !== null && html`<bdi>${email}</bdi>`,
      tags: current && tag(say('multi-session.current'), 'ok'),
      picture: avatar({ name: name ?? email ?? '' }),
      actions:
        id === null
          ? callbackUrl !== undefined && (await act('multi-session.keep', 'primary', { action: 'keep', callbackUrl }))
          : [
              await act('multi-session.use', 'primary', { action: 'switch', id, callbackUrl }),
              await act('multi-session.sign-out', 'plain', { action: 'signOut', id }),
            ],
    })
  }
  const title = say('multi-session.title')
  return {
    title,
    layout: 'wide',
    body: [
      alert(error),
      card({
        title,
        actions: [
          await form('/switch', button(say('multi-session.add')), { action: 'add', callbackUrl }),
          await form('/switch', button(say('multi-session.all'), { tone: 'danger' }), { action: 'all' }),
        ],
        body: await Promise.all(accounts.map(drawOne)),
      }),
    ],
    ...(error !== undefined && { status: 400 }),
  }
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
