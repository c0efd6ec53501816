/** Leaving: a section of the account page, a page that asks, and a fresh proof before everything goes. */
import { type AccountSection, type AdapterUser, AuthError, type Context, type PageDraw, proveAgain, redirectTo } from 'authkernel/kernel'

/** Seconds: a session that somebody left open, or stole, deletes nothing. */
const fresh = 300
const path = '/account/delete'

export const deleteSection: AccountSection = {
  id: 'delete',
  order: 900,
  async draw(ctx, { say, link }) {
    if (!(await stored(ctx))) return undefined
    return { heading: say('account.delete'), body: link(say('account.delete'), path) }
  },
}

/** `GET /account/delete`. */
export const deletePage: PageDraw = async (ctx, { say, form, submit, link, alert }, { error }) => {
  const user = await stored(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  return {
    title: say('account.delete'),
    lead: say('account.delete.lead', { name: user.email ?? user.name ?? '' }),
    body: [alert(error), await form(path, submit(say('account.delete.confirm'))), link(say('account.delete.keep'), '/account')],
    ...(error !== undefined && { status: 409 }),
  }
}

/** What the page posts to. */
export async function deleteAccount(ctx: Context): Promise<Response> {
  const user = await stored(ctx)
  if (!user) return ctx.page('signIn')
  const back = `${ctx.base}${path}`
  const led = await proveAgain(ctx, fresh, back)
  if (led) return led
  try {
    await ctx.store?.deleteUser(user.id)
  } catch (thrown) {
    // A plugin may keep the person, and says why.
    if (!(thrown instanceof AuthError) || thrown.status >= 500) throw thrown
    return redirectTo(`${back}?error=${encodeURIComponent(thrown.type)}`)
  }
  await ctx.session.end(ctx)
  notify(ctx, user)
  return redirectTo(ctx.origin)
}

/** The user in the store, for whom deletion is possible. Not somebody who acts as that user, and no API key. */
async function stored(ctx: Context): Promise<AdapterUser | null> {
  const { store } = ctx
  if (!store?.supports('deleteUser') || !ctx.session.abilities?.has('attributes')) return null
  const session = (await ctx.currentSession()) as { apiKey?: unknown; actor?: unknown } | null
  const { id } = (await ctx.session.user(ctx)) ?? {}
  if (!session || session.apiKey !== undefined || session.actor !== undefined || id === undefined) return null
  return store.getUser(id)
}

function notify(ctx: Context, { email }: AdapterUser): void {
  if (!email || !ctx.app.services.mailTransport || !ctx.app.services.mail) return
  ctx
    .service('mail')
    .send(ctx, email, 'pages.deleted', { at: ctx.now })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
