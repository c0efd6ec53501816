/** Switching between sessions of one browser. Each one has its own id, and a new token whenever it comes or goes. */
import { type Context, type Kernel, redirectTo, withParams, type Row, type User } from 'authkernel/kernel'
import { contextBehind, cookiesToStore, redirectBehind } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'
import { AccountGone, TooManyAccounts } from './errors.ts'
import { readIds, storeIds, cookieAge, type WaitingSessionRow } from './tables.ts'

/** An account that this browser is signed in to. */
export interface BrowserAccount {
  /** Names it for `switch` and `signOut`; null for the current one. */
  id: string | null
  name: string | null
  email: string | null
  image: string | null
  /** Whether it is the one that is used now. */
  current: boolean
}

/** The current one first. */
export async function listAccounts(kernel: Kernel, ctx: Context): Promise<BrowserAccount[]> {
  const here = await findOwnUser(ctx, 'multiSession')
  const waiting = await Promise.all(
    (await readIds(ctx)).map(async (id) => {
      const found = await openWaiting(kernel, ctx, await ctx.records('waitingSession').get(id))
      return found ? [toBrowserAccount(found.user, id)] : []
    }),
  )
  return [...(here ? [toBrowserAccount(here, null)] : []), ...waiting.flat()]
}

/** Lets the session that is here wait, and leads to the sign-in page signed out. Throws TooManyAccounts. */
export async function addAccount(kernel: Kernel, ctx: Context, max: number, target?: string): Promise<Response> {
  const ids = await readIds(ctx)
  if (ids.length >= max && (await findOwnUser(await contextBehind(kernel, ctx, null), 'multiSession')))
    throw new TooManyAccounts(`multiSession.add: ${max} sessions wait in this browser already.`)
  const left = await leaveSession(kernel, ctx)
  const signIn = redirectTo(withParams(`${ctx.base}/signin`, { callbackUrl: target }))
  if (!left) return signIn
  await storeIds(left.ctx, [left.id, ...ids])
  return kernel.answer(left.ctx, signIn)
}

/** The session that waits comes back, and the one that is here waits. When it is rejected, both are as they were. Throws AccountGone. */
export async function switchAccount(kernel: Kernel, ctx: Context, id: string, target: string): Promise<Response> {
  const ids = await readIds(ctx)
  // Who may not switch learns it before anything is taken. In a context of its own: that of a route writes its cookies after those of the answer.
  await findOwnUser(await contextBehind(kernel, ctx, null), 'multiSession')
  const waiting = ctx.records('waitingSession')
  // One of several callers gets it.
  const row = ids.includes(id) ? await waiting.take(id) : null
  if (!row) throw createAccountGone()
  const found = await withPutBack(ctx, row, async () => {
    const opened = await openWaiting(kernel, ctx, row)
    const again = opened && (await opened.ctx.loginAgain({ callbackUrl: ctx.origin }))
    if (!opened || !again) throw createAccountGone()
    await opened.ctx.resume(again)
    return opened
  })
  const back = found.ctx
  // It has a new token by now: that is what waits when the session that is here cannot leave.
  const left = await withPutBack(ctx, { ...row, cookies: cookiesToStore(kernel, back) }, () => leaveSession(kernel, ctx))
  await storeIds(back, [...(left ? [left.id] : []), ...ids.filter((other) => other !== id)])
  forgetFormState(back)
  await ctx.emit('accountSwitched', { user: found.user, from: left?.user ?? null })
  return redirectBehind(kernel, target, back, left?.ctx ?? back)
}

/** Ends sessions that wait: one, or all of them and the one that is here. False: there was none. */
export async function signOutAccounts(kernel: Kernel, ctx: Context, which: string): Promise<boolean> {
  const ids = await readIds(ctx)
  const ends = which === 'all' ? ids : ids.filter((id) => id === which)
  for (const id of ends) await endWaiting(kernel, ctx, id)
  await storeIds(
    ctx,
    ids.filter((id) => !ends.includes(id)),
  )
  if (which !== 'all') return ends.length > 0
  const ended = await ctx.session.end(ctx)
  if (ended) await ctx.emit('signOut', ended)
  forgetFormState(ctx)
  return ended !== null || ends.length > 0
}

/** A session that was taken to come back waits again when it cannot. */
async function withPutBack<T>(ctx: Context, row: Row<WaitingSessionRow>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await ctx
      .records('waitingSession')
      .put(row)
      .catch((failure: unknown) => ctx.logger.error(failure as Error))
    throw error
  }
}

function createAccountGone(): AccountGone {
  return new AccountGone('multiSession.switch: the browser has no such account, or its session has ended.')
}

/** A sign-in of a user whose session waits takes its place. */
export async function replaceWaiting(kernel: Kernel, ctx: Context, userId: string): Promise<void> {
  const ids = await readIds(ctx)
  const same: string[] = []
  for (const id of ids) if ((await ctx.records('waitingSession').get(id))?.userId === userId) same.push(id)
  if (same.length === 0) return
  for (const id of same) await endWaiting(kernel, ctx, id)
  await storeIds(
    ctx,
    ids.filter((id) => !same.includes(id)),
  )
}

/** Where a switch leads: where this request says, and never where the former account was going. */
export async function targetOf(ctx: Context): Promise<string> {
  const { callbackUrl } = await ctx.body()
  const isNamed = typeof callbackUrl === 'string' || ctx.url.searchParams.has('callbackUrl')
  return isNamed ? ctx.callbackUrl() : ctx.callbackUrl(ctx.origin)
}

/** The session that is here gets a new token, which only the server keeps. Null: signed out. */
async function leaveSession(kernel: Kernel, ctx: Context): Promise<{ ctx: Context; id: string; user: User } | null> {
  // In a context of its own: that of a route writes its cookies after those of the answer.
  const own = await contextBehind(kernel, ctx, null)
  const user = await findOwnUser(own, 'multiSession')
  const again = user && (await own.loginAgain({ callbackUrl: ctx.origin }))
  if (!user?.id || !again) return null
  await own.resume(again)
  const cookies = cookiesToStore(kernel, own)
  const expires = new Date(ctx.now.getTime() + cookieAge * 1000)
  const { id } = await ctx.records('waitingSession').create({ userId: user.id, cookies, expires })
  const { name, options } = own.cookies.sessionToken
  own.deleteCookie(name, options)
  forgetFormState(own)
  return { ctx: own, id, user }
}

/** The live session of a row; null: it has ended. */
async function openWaiting(kernel: Kernel, ctx: Context, row: Row<WaitingSessionRow> | null): Promise<{ ctx: Context; user: User } | null> {
  if (!row) return null
  const ownCtx = await contextBehind(kernel, ctx, row.cookies)
  const user = await ownCtx.session.user(ownCtx)
  return user?.id === row.userId ? { ctx: ownCtx, user } : null
}

async function endWaiting(kernel: Kernel, ctx: Context, id: string): Promise<void> {
  const row = await ctx.records('waitingSession').take(id)
  if (!row) return
  const ownCtx = await contextBehind(kernel, ctx, row.cookies)
  const ended = await ownCtx.session.end(ownCtx)
  if (ended) await ctx.emit('signOut', ended)
}

// A token for forms and a target of the one must not be there for the other.
function forgetFormState(ctx: Context): void {
  for (const { name, options } of [ctx.cookies.csrfToken, ctx.cookies.callbackUrl]) ctx.deleteCookie(name, options)
}

function toBrowserAccount({ name = null, email = null, image = null }: User, id: string | null): BrowserAccount {
  return { id, name, email, image, current: id === null }
}
