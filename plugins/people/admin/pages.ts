/** The pages `/admin` and `/admin/user`, by option. Each act asks `can`, as the API does. They need no JavaScript. */
import { AuthError, type Content, type Context, HttpError, type Kernel, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import type { AdminActs } from './methods.ts'
import type { ListedUser } from './users.ts'

type Params = Readonly<Record<string, string | undefined>>

export function addPages(kernel: Kernel, acts: AdminActs): void {
  kernel.page('adminUsers', (ctx, tools, params) => drawOrRefuse(ctx, tools, () => drawUsers(acts, ctx, tools, params)), { path: '/admin' })
  kernel.page('adminUser', (ctx, tools, params) => drawOrRefuse(ctx, tools, () => drawUser(acts, ctx, tools, params)), {
    path: '/admin/user',
  })
  kernel.route({ method: 'POST', path: '/admin/user', handler: (ctx) => postOrder(acts, ctx) })
}

/** A refusal is a page with its status, or the sign-in page when signed out. */
async function drawOrRefuse(ctx: Context, { say, alert }: PageTools, draw: () => Promise<PageView>): Promise<PageView | Response> {
  try {
    return await draw()
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (!(await ctx.currentSession())) return ctx.page('signIn')
    return { title: say('admin.title'), body: alert('AdminRefused'), status: error.status }
  }
}

async function drawUsers(
  acts: AdminActs,
  ctx: Context,
  { html, say, field, link, base }: PageTools,
  { email = '', after }: Params,
): Promise<PageView> {
  const page = await acts.list(ctx.request, { email, after, limit: 50 })
  const search = html`<form class="stack" action="${base}/admin" method="get">
    ${field('email', { label: 'Email', type: 'search', value: email, maxlength: 254 })}
    <button class="button" type="submit"><span class="label">${say('admin.search')}</span></button>
  </form>`
  const rows = page.users.map(
    ({ id, name, email: address, ban }) =>
      html`<li>
        <a href="${base}/admin/user?${new URLSearchParams({ id }).toString()}"><bdi>${name ?? address ?? id}</bdi></a>
        <small>${name !== null && address}${ban && html` · ${say('admin.banned')}`}</small>
      </li>`,
  )
  const next =
    page.next === undefined ? undefined : link(say('admin.more'), `/admin?${new URLSearchParams({ email, after: page.next }).toString()}`)
  return {
    title: say('admin.title'),
    body: [
      search,
      html`<ul class="rows">
        ${rows}
      </ul>`,
      rows.length === 0 && html`<p>${say('admin.none')}</p>`,
      next,
    ],
  }
}

async function drawUser(acts: AdminActs, ctx: Context, tools: PageTools, { id = '', done, error }: Params): Promise<PageView> {
  const { html, say, alert, date, form, field, submit, link } = tools
  const found = await acts.get(ctx.request, id)
  if (!found) return { title: say('admin.title'), body: [alert('AdminRefused'), link(say('admin.title'), '/admin')], status: 404 }
  const reason = (key: string): Content => field('reason', { label: 'admin.reason', type: 'text', required: true, maxlength: 500 }, key)
  const order = (action: string, more: Content = undefined): Promise<Content> =>
    form('/admin/user', [reason(action), more, submit(say(`admin.${action}`), { quiet: true })], { id, action })
  const orders = [
    found.ban ? 'unban' : undefined,
    'signOut',
    'newFactor',
    found.email !== null && !found.emailVerified ? 'verifyAddress' : undefined,
  ].filter((action) => action !== undefined)
  const body: Content[] = [
    alert(error),
    done && html`<p role="status">${say('admin.done')}</p>`,
    html`<p>${found.email} · ${say(found.emailVerified ? 'admin.proved' : 'admin.unproved')}</p>`,
    found.ban &&
      html`<p role="alert">${say('admin.banned')}: ${found.ban.reason}${found.ban.until && html` · ${date(found.ban.until)}`}</p>`,
  ]
  if (!found.ban) body.push(await order('ban', field('until', { label: 'admin.until', type: 'date' }, 'ban')))
  for (const action of orders) body.push(await order(action))
  body.push(link(say('admin.title'), '/admin'))
  return { title: userLabel(found), body, ...(error !== undefined && { status: 400 }) }
}

async function postOrder(acts: AdminActs, ctx: Context): Promise<Response> {
  const { id, action, reason, until } = await ctx.body()
  const [userId, why, by] = [String(id), String(reason ?? ''), ctx.request]
  const back = (more: Record<string, string>): Response =>
    redirectTo(`${ctx.base}/admin/user?${new URLSearchParams({ id: userId, ...more }).toString()}`)
  const orders: Record<string, () => Promise<unknown>> = {
    ban: () => acts.ban(by, userId, { reason: why, ...(typeof until === 'string' && until !== '' && { until: new Date(until) }) }),
    unban: () => acts.unban(by, userId, { reason: why }),
    signOut: () => acts.signOut(by, userId, { reason: why }),
    newFactor: () => acts.newFactor(by, userId, { reason: why }),
    verifyAddress: () => acts.verifyAddress(by, userId, { reason: why }),
  }
  const order = typeof action === 'string' && Object.hasOwn(orders, action) ? orders[action] : undefined
  try {
    await order?.()
    return back(order ? { done: '1' } : {})
  } catch (error) {
    // `newFactor` without a plugin that answers it is a mistake of the host, and shown to the administrator all the same.
    if (!isRefusal(error) && !(error instanceof AuthError && action === 'newFactor')) throw error
    return back({ error: 'AdminRefused' })
  }
}

function isRefusal(error: unknown): error is AuthError | HttpError {
  return (error instanceof AuthError || error instanceof HttpError) && error.status < 500
}
function userLabel({ name, email, id }: ListedUser): string {
  return name ?? email ?? id
}
