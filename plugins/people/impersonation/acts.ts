/** How an impersonation begins and ends. Each gives new tokens to all sessions that take part. */
import {
  AccessDenied,
  type Context,
  HttpError,
  type Kernel,
  type Login,
  randomHex,
  type SessionAttributes,
  type User,
  toLocalPath,
} from 'authkernel/kernel'
import { contextBehind, cookiesToStore, hasFreshProof, redirectBehind } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'
import type { ImpersonationOptions } from './options.ts'
import { attributesWithin, endAlone } from './strategy.ts'
import { kind, provider, returnCookie, readReturnId, cookieAge } from './tables.ts'

/** Where the browser goes on. */
export interface Order {
  /** A path of the own origin; default `/`. */
  returnTo?: string | undefined
}
/** As whom, and why. */
export interface StartOptions extends Order {
  /** The user to act as. */
  userId: string
  /** 1 to 500 characters. The user, the session and the audit log may show it. */
  reason: string
}

const minute = 60_000

export async function startImpersonation(
  kernel: Kernel,
  request: Request,
  order: StartOptions,
  { can, proofAge }: { can: ImpersonationOptions['can']; proofAge: number },
): Promise<Response> {
  const ctx = await kernel.contextOf(request)
  const path = toLocalPath(order.returnTo ?? '/', 'impersonation')
  const admin = await requireAdministrator(ctx, proofAge)
  const { userId, reason } = order
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > 500)
    throw new HttpError(400, 'impersonation.start: give a `reason` of 1 to 500 characters.')
  const user = typeof userId === 'string' ? await ctx.store?.getUser(userId) : undefined
  if (!user) throw new HttpError(404, 'impersonation.start: there is no such user.')
  if (user.id === admin.id) throw new HttpError(400, 'impersonation.start: an administrator cannot act as the own user.')
  const stamp = await ctx.access.stamp(`user:${user.id}`)
  if ((await can({ admin, user, ctx })) !== true) {
    await ctx.emit('impersonationDenied', { admin, user, reason })
    throw new AccessDenied('impersonation.start: `can` refused it.')
  }

  // A new token for the own session, which only the server keeps: a copy of the old one is worth nothing.
  const again = await ctx.loginAgain({ callbackUrl: ctx.origin })
  if (!again) throw new AccessDenied('impersonation.start: the session has ended. Sign in again.')
  await ctx.resume(again)
  const cookies = cookiesToStore(kernel, ctx)
  const { name, options } = ctx.cookies.sessionToken
  ctx.deleteCookie(name, options)

  const until = new Date(ctx.now.getTime() + 30 * minute)
  const expires = new Date(ctx.now.getTime() + cookieAge * 1000)
  const id = randomHex(ctx.runtime, 16)
  await ctx.records('impersonation').create({ id, userId: user.id, adminId: admin.id, reason, cookies, until, expires })
  // Without cookies, so that the session of the administrator lives on.
  const acting = await contextBehind(kernel, ctx, '')
  const issued = await ctx.access.grant(
    stamp,
    'acting',
    async () => acting.session.issue(acting, loginAs(user, ctx), attributesFor(user, { id, adminId: admin.id, until }, ctx)),
    (session) => session && acting.session.takeBack?.(acting, session),
  )
  if (!issued) throw new AccessDenied('impersonation.start: the jwt callback rejected the session.')
  returnCookie.set(acting, await returnCookie.seal(acting, { id }, cookieAge))
  await ctx.emit('impersonationStarted', { admin, user, reason, until })
  return redirectBehind(kernel, ctx.origin + path, acting, ctx)
}

/** Back to the own session, when it is still there. `target` is a URL of the own origin. */
export async function stopImpersonation(kernel: Kernel, ctx: Context, target: string): Promise<Response> {
  const found = await attributesWithin(ctx)
  const acts = found?.provider === provider
  // After the acting session has ended by itself. A user who is signed in gets no other user's session.
  const id = acts ? found.sid : (await ctx.session.user(ctx)) ? undefined : await readReturnId(ctx)
  if (id === undefined) throw new AccessDenied('impersonation.stop: no administrator acts as a user on this request.')
  // In a context of its own: that of the request writes its cookies after these. The session ends before the record that guards it.
  const acting = await contextBehind(kernel, ctx, null)
  if (acts) await endAlone(acting)
  returnCookie.delete(acting)
  // One of several callers gets the session back.
  const row = await ctx.records('impersonation').take(id)
  const before = await contextBehind(kernel, ctx, row?.cookies ?? '')
  const admin = row && (await before.session.user(before))
  if (row) await ctx.emit('impersonationEnded', { admin: { id: row.adminId }, user: { id: row.userId }, reason: row.reason })
  const again = admin && admin.id === row.adminId ? await before.loginAgain({ callbackUrl: ctx.origin }) : null
  if (again) await before.resume(again)
  return redirectBehind(kernel, target, before, acting)
}

/** Throws AccessDenied when signed out, for an API key or an app, and for a proof that is too old. */
async function requireAdministrator(ctx: Context, proofAge: number): Promise<User & { id: string }> {
  const userId = (await findOwnUser(ctx, 'impersonation.start'))?.id
  const admin = userId ? await ctx.store?.getUser(userId) : undefined
  if (!admin) throw new AccessDenied('impersonation.start: no user is signed in.')
  if (!(await hasFreshProof(ctx, { maxAge: proofAge })))
    throw new AccessDenied(`impersonation.start: the proof is older than ${proofAge} seconds. Call auth.stepUp.require(request) first.`)
  return admin
}

// No hook and no event of sign-ins: no user signed in. The second factor is the user's, and is not asked for.
function loginAs(user: User & { id: string }, { origin }: Context): Login {
  return {
    user,
    account: { provider, providerAccountId: user.id, type: 'credentials' },
    isNewUser: false,
    trigger: 'signIn',
    session: 'new',
    purpose: 'stepUp',
    passed: [],
    proof: { amr: [], factors: 1 },
    person: `user:${user.id}`,
    previous: null,
    match: 'none',
    callbackUrl: origin,
  }
}

function attributesFor(
  { id: sub }: { id: string },
  { id: sid, adminId, until }: { id: string; adminId: string; until: Date },
  { now, facts }: Context,
): SessionAttributes {
  const { address, userAgent } = facts
  const where = { ...(address !== undefined && { address }), ...(userAgent !== undefined && { userAgent }) }
  // No method: such a session proves nothing about the user.
  const acting = { kinds: [kind], until: until.getTime(), actor: adminId }
  return { provider, sub, sid, authTime: 0, methods: {}, factors: 1, started: now.getTime(), ...where, ...acting }
}
