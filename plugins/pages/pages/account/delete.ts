/** Deleting the account: a section of the account page, a page that asks, and a fresh proof before everything goes. */
import {
  type AccountSection,
  type AdapterUser,
  AuthError,
  type Content,
  type Context,
  type PageDraw,
  type PageTools,
  proveAgain,
  redirectTo,
} from 'authkernel/kernel'
import { countOwnedRows, findOwnUser } from 'authkernel/kernel/users'

/** Seconds: a session that was left open, or stolen, deletes nothing. */
const maxProofAge = 300
const path = '/account/delete'

export const deleteSection: AccountSection = {
  id: 'delete',
  order: 900,
  async draw(ctx, { say, buttonLink }) {
    if (!(await findDeletableUser(ctx))) return undefined
    return {
      heading: say('account.delete'),
      text: say('account.delete.text'),
      danger: true,
      actions: buttonLink(say('account.delete'), path, { tone: 'danger' }),
    }
  },
}

/** `GET /account/delete`. */
export const deletePage: PageDraw = async (ctx, tools, { error }) => {
  const { say, form, submit, link, alert } = tools
  const user = await findDeletableUser(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  return {
    title: say('account.delete'),
    lead: say('account.delete.lead', { name: user.email ?? user.name ?? '' }),
    body: [
      alert(error),
      await drawHoldings(ctx, tools, user),
      await form(path, submit(say('account.delete.confirm'))),
      link(say('account.delete.keep'), '/account'),
    ],
    ...(error !== undefined && { status: 409 }),
  }
}

/** What goes: kinds with their numbers. A store that cannot tell keeps no user from deleting the account. */
async function drawHoldings(ctx: Context, { say, facts, html, lang }: PageTools, { id, email, name }: AdapterUser): Promise<Content> {
  const { store, session } = ctx
  const count = (many: number | undefined): Content =>
    many === undefined || many === 0 ? undefined : new Intl.NumberFormat(lang).format(many)
  try {
    const accounts = store?.supports('listAccountsByUserId') ? await store.listAccountsByUserId(id) : []
    const sessions = session.abilities?.has('list') ? await session.list?.(ctx, id) : undefined
    const rows = Object.values(await countOwnedRows(ctx, id))
    return facts([
      [say('account.profile'), html`<bdi>${email ?? name}</bdi>`],
      [say('account.methods'), count(accounts.length)],
      [say('account.sessions'), count(sessions?.length)],
      [say('account.delete.rest'), count(rows.reduce((sum, one) => sum + one, 0))],
    ])
  } catch (error) {
    ctx.logger.error(error instanceof Error ? error : new Error(String(error)))
    return undefined
  }
}

/** `POST /account/delete`. */
export async function deleteAccount(ctx: Context): Promise<Response> {
  const user = await findDeletableUser(ctx)
  if (!user) return ctx.page('signIn')
  const back = `${ctx.base}${path}`
  const redirect = await proveAgain(ctx, maxProofAge, back)
  if (redirect) return redirect
  try {
    await ctx.store?.deleteUser(user.id)
  } catch (thrown) {
    // A plugin may refuse the deletion, with an error that the page shows.
    if (!(thrown instanceof AuthError) || thrown.status >= 500) throw thrown
    return redirectTo(`${back}?error=${encodeURIComponent(thrown.type)}`)
  }
  await ctx.session.end(ctx)
  mailDeletion(ctx, user)
  return redirectTo(ctx.origin)
}

/** The user in the store. Null where deletion is not possible, for an administrator who acts as that user, and for an API key. */
async function findDeletableUser(ctx: Context): Promise<AdapterUser | null> {
  const { store } = ctx
  if (!store?.supports('deleteUser') || !ctx.session.abilities?.has('attributes')) return null
  const { id } = (await findOwnUser(ctx)) ?? {}
  return id === undefined ? null : store.getUser(id)
}

function mailDeletion(ctx: Context, { email }: AdapterUser): void {
  if (!email || !ctx.app.services.mailTransport || !ctx.app.services.mail) return
  ctx
    .service('mail')
    .send(ctx, email, 'pages.deleted', { at: ctx.now })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
