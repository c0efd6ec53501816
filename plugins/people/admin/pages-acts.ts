/** Acts of the console: a dialog for each, a page that asks the same without JavaScript, and the route that does it. */
import { AuthError, type Content, type Context, HttpError, type PageView, proveAgain, redirectTo } from 'authkernel/kernel'
import type { UserDetails } from './details.ts'
import type { AdminActs, UserOrder } from './methods.ts'
import type { AdminAct } from './options.ts'
import { type PageRequest, isRefusal } from './pages-frame.ts'
import type { ListedUser } from './users.ts'

/** Acts of the page of one user, in their order. */
const shownActs = [
  'updateUser',
  'resetPassword',
  'verifyAddress',
  'newFactor',
  'signOut',
  'setRole',
  'ban',
  'unban',
  'impersonate',
  'deleteUser',
] as const
type ShownAct = (typeof shownActs)[number]

/** Seconds: that of impersonationPlugin by default. */
const maxProofAge = 300

/** The buttons for what may be done to a user now; each asks once. */
export async function drawActButtons(request: PageRequest, user: UserDetails): Promise<{ profile: Content; danger: Content }> {
  const { tools, ctx } = request
  const own = (await ctx.session.user(ctx))?.id === user.id
  const buttons: Content[] = []
  let danger: Content
  for (const act of shownActs) {
    if (!request.may(act) || !fits(request, act, user, own)) continue
    const button = tools.dialog({
      id: `act-${act}`,
      label: tools.say(`admin.${act}`),
      title: tools.say(`admin.${act}`),
      body: await drawForm(request, act, user),
      path: `/admin/act?${new URLSearchParams({ id: user.id, act }).toString()}`,
      tone: act === 'ban' || act === 'deleteUser' ? 'danger' : 'plain',
    })
    if (act === 'deleteUser') danger = button
    else buttons.push(button)
  }
  return { profile: buttons, danger }
}

/** `GET /admin/act`: the same question as a page. */
export async function drawAct(request: PageRequest): Promise<PageView> {
  const { acts, ctx, tools, params } = request
  const { say, alert, card, link } = tools
  const user = await acts.get(ctx.request, params['id'] ?? '')
  const act = shownActs.find((one) => one === params['act'])
  if (!user || !act) return { title: say('admin.title'), body: [alert('AdminRefused'), link(say('admin.title'), '/admin')], status: 404 }
  const back = `/admin/user?${new URLSearchParams({ id: user.id }).toString()}`
  return {
    title: say(`admin.${act}`),
    lead: user.name ?? user.email ?? user.id,
    body: [
      alert(params['error']),
      card({ title: say(`admin.${act}`), body: await drawForm(request, act, user), danger: act === 'deleteUser' }),
      link(say('admin.back'), back),
    ],
    ...(params['error'] !== undefined && { status: 400 }),
  }
}

/** `POST /admin/user`. */
export async function postAct(acts: AdminActs, ctx: Context): Promise<Response> {
  const { id, action, reason, until, role, name, email } = await ctx.body()
  const [userId, why, by] = [String(id), String(reason ?? ''), ctx.request]
  const back = (more: Record<string, string>): Response =>
    redirectTo(`${ctx.base}/admin/user?${new URLSearchParams({ id: userId, ...more }).toString()}`)
  const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')
  const orders: Record<string, () => Promise<unknown>> = {
    ban: () => acts.ban(by, userId, { reason: why, ...(text(until) !== '' && { until: new Date(text(until)) }) }),
    unban: () => acts.unban(by, userId, { reason: why }),
    signOut: () => acts.signOut(by, userId, { reason: why }),
    newFactor: () => acts.newFactor(by, userId, { reason: why }),
    verifyAddress: () => acts.verifyAddress(by, userId, { reason: why }),
    resetPassword: () => acts.resetPassword(by, userId, { reason: why }),
    setRole: () => acts.setRole(by, userId, { reason: why, role: text(role) || null }),
    updateUser: () =>
      acts.updateUser(by, userId, { reason: why, name: text(name) || null, ...(text(email) !== '' && { email: text(email) }) }),
    deleteUser: () => acts.deleteUser(by, userId, { reason: why }),
  }
  const order = typeof action === 'string' && Object.hasOwn(orders, action) ? orders[action] : undefined
  try {
    if (action === 'impersonate') {
      // What acts as another user needs a fresh proof of the own one.
      const redirect = await proveAgain(
        ctx,
        maxProofAge,
        `${ctx.base}/admin/act?${new URLSearchParams({ id: userId, act: action }).toString()}`,
      )
      return redirect ?? (await acts.impersonate(by, userId, { reason: why }))
    }
    const answer = await order?.()
    if (typeof answer === 'object' && answer !== null) return back({ done: 'pending' })
    if (action === 'deleteUser') return redirectTo(`${ctx.base}/admin?done=1`)
    return back(order ? { done: '1' } : {})
  } catch (error) {
    // `newFactor` without a plugin that answers it is a mistake of the host, and shown to the administrator all the same.
    if (!isRefusal(error) && !(error instanceof AuthError && action === 'newFactor')) throw error
    const code = codeOf(error)
    return action === 'updateUser' ? ctx.render('adminAct', { id: userId, act: action, error: code }) : back({ error: code })
  }
}

/** `POST /admin/new`. */
export async function postNew(acts: AdminActs, ctx: Context): Promise<Response> {
  const { as, email, name, reason, verified } = await ctx.body()
  const order = {
    email: String(email ?? ''),
    reason: String(reason ?? ''),
    ...(typeof name === 'string' && name !== '' && { name }),
  } as UserOrder
  const invite = as === 'invite'
  try {
    const user = invite
      ? await acts.inviteUser(ctx.request, order)
      : await acts.createUser(ctx.request, { ...order, verified: verified === 'yes' })
    return redirectTo(`${ctx.base}/admin/user?${new URLSearchParams({ id: user.id, done: '1' }).toString()}`)
  } catch (error) {
    if (!isRefusal(error)) throw error
    // The response is the page itself, so that addresses of users are in no URL.
    return ctx.render('adminNewUser', { ...(invite && { as: 'invite' }), error: codeOf(error) })
  }
}

function codeOf(error: unknown): string {
  return error instanceof HttpError && error.status === 409 ? 'AdminConflict' : 'AdminRefused'
}

async function drawForm({ tools, rights }: PageRequest, act: ShownAct, user: ListedUser & { role?: string | null }): Promise<Content> {
  const { say, field, select, form, button, html, typed } = tools
  const [name, email] = [typed('name', 'updateUser') ?? user.name ?? '', typed('email', 'updateUser') ?? user.email ?? '']
  const fields: Content[] = [
    act === 'deleteUser' && html`<p>${say('admin.deleteUser-text')}</p>`,
    act === 'updateUser' && [
      field('name', { label: 'admin.name', type: 'text', value: name, maxlength: 200, autocomplete: 'off' }, act),
      field('email', { label: 'Email', type: 'email', value: email, maxlength: 254, autocomplete: 'off' }, act),
    ],
    act === 'setRole' &&
      select(
        'role',
        {
          label: 'admin.role',
          value: user.role ?? '',
          options: [['', say('admin.none-role')], ...rights.roles.map((one) => [one, one] as const)],
        },
        act,
      ),
    act === 'ban' && field('until', { label: 'admin.until', type: 'date' }, act),
    field('reason', { label: 'admin.reason', type: 'text', required: true, maxlength: 500, value: typed('reason', act) }, act),
    button(say(`admin.${act}`), { tone: act === 'ban' || act === 'deleteUser' ? 'danger' : 'primary' }),
  ]
  return form('/admin/user', fields, { id: user.id, action: act })
}

function fits({ ctx, rights }: PageRequest, act: AdminAct, user: UserDetails, own: boolean): boolean {
  if (own && ['updateUser', 'setRole', 'ban', 'deleteUser', 'impersonate'].includes(act)) return false
  if (act === 'impersonate') return user.ban === null && ctx.has('hook', 'impersonate')
  if (act === 'ban') return user.ban === null
  if (act === 'unban') return user.ban !== null
  if (act === 'verifyAddress') return user.email !== null && user.emailVerified === null
  if (act === 'resetPassword') return user.email !== null && ctx.has('hook', 'resetPassword')
  if (act === 'newFactor') return ctx.has('hook', 'newFactor')
  return act !== 'setRole' || rights.roles.length > 0
}
