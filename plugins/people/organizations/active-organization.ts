/** The active organization: in a sealed cookie of its user, and checked at each session read. */
import {
  type AnyContext,
  type Context,
  type CookieHandle,
  createCookie,
  type HookMessage,
  type Kernel,
  type Session,
  type SessionStrategy,
} from 'authkernel/kernel'
import { createVisitor, type PluginInstance, findMember, rowsOf, requireMembership } from './actor.ts'

/** What a session says of it. */
export interface ActiveOrganization {
  id: string
  role: string
}
// Where hosts add theirs: TypeScript loses one of two augmentations that come by different modules.
declare module 'authkernel' {
  interface Session {
    /** There while the user is a member of the organization that they chose. */
    organization?: ActiveOrganization
  }
  interface PluginSessionFields {
    organization: 'organizations'
  }
}

const cookieAge = 400 * 86_400
export const activeCookie: CookieHandle = /* @__PURE__ */ createCookie('organization', { maxAge: cookieAge })
interface Choice {
  userId: string
  organizationId: string
}

/** Null: none. Throws NoSuchOrganization for a user who is no member. */
export async function setActive(plugin: PluginInstance, ctx: Context, id: string | null): Promise<void> {
  const actor = await createVisitor(plugin, ctx)
  const userId = actor.user?.id as string
  const chosen = id === null ? null : (await requireMembership(actor, id)).organization.id
  await rememberChoice(actor.rows, userId, chosen)
  if (chosen !== null) await recordSeen(actor.rows, chosen, userId)
  if (chosen === null) return activeCookie.delete(ctx)
  await setChoiceCookie(ctx, { userId, organizationId: chosen })
}

/** The same where none is active: a user who has just created an organization works in it. */
export async function setFirstActive(plugin: PluginInstance, ctx: Context, id: string): Promise<void> {
  const session = await ctx.currentSession()
  if (session && !session.organization) await setActive(plugin, ctx, id)
}

/** The organization that is active where none was chosen in this browser: the last one that the user chose in any, else the only one. */
export async function findUsualOrganization(rows: AnyContext, userId: string): Promise<ActiveOrganization | null> {
  const last = await rows.records('organizationActive').get({ userId })
  if (last?.chosen === null) return null
  const member = last && (await findMember(rows, last.chosen, userId))
  if (member) return { id: member.organizationId, role: member.role }
  const { rows: all } = await rows.records('organizationMember').find({ where: { userId }, limit: 100 })
  const inForce = all.filter(({ suspended }) => suspended === null)
  return inForce.length === 1 && inForce[0] ? { id: inForce[0].organizationId, role: inForce[0].role } : null
}

/** A sign-in in a browser that knows of no choice of this user takes up the usual one. */
export function activateAtSignIn(kernel: Kernel, plugin: PluginInstance): void {
  kernel.on('signIn', async ({ user, ctx }) => {
    if (user.id === undefined || !ctx.request || !ctx.canSetCookies) return
    const rows = await rowsOf(plugin, ctx)
    const chosen = activeCookie.get(ctx) === undefined ? null : await activeCookie.open<Choice>(ctx)
    if (chosen?.userId === user.id && (await recordSeen(rows, chosen.organizationId, user.id))) return
    const usual = await findUsualOrganization(rows, user.id)
    if (!usual) return
    await setChoiceCookie(ctx, { userId: user.id, organizationId: usual.id })
    await recordSeen(rows, usual.id, user.id)
  })
}

/** When a member was last there. False: no member. */
async function recordSeen(rows: AnyContext, organizationId: string, userId: string): Promise<boolean> {
  const member = await findMember(rows, organizationId, userId)
  if (member) await rows.records('organizationMember').update(member.id, { seen: rows.now })
  return member !== null
}

async function setChoiceCookie(ctx: Context, chosen: Choice): Promise<void> {
  activeCookie.set(ctx, await activeCookie.seal(ctx, { ...chosen }, cookieAge))
}

async function rememberChoice(rows: AnyContext, userId: string, chosen: string | null): Promise<void> {
  const table = rows.records('organizationActive')
  const known = await table.get({ userId })
  if (known?.chosen === chosen) return
  try {
    if (known) await table.update(known.id, { chosen })
    else await table.create({ userId, chosen })
  } catch (error) {
    // Another request of the same user was first, and the later choice is the one that counts.
    const now = await table.get({ userId })
    if (!now) throw error
    await table.update(now.id, { chosen })
  }
}

/** The session strategy, whose sessions name the active organization. One query, where one was chosen. */
export function addActiveOrganization(plugin: PluginInstance, inner: SessionStrategy): Partial<SessionStrategy> {
  const nameOrganization = async (ctx: Context, session: Session | null): Promise<Session | null> => {
    if (!session || activeCookie.get(ctx) === undefined) return session
    const chosen = await activeCookie.open<Choice>(ctx)
    // After a switch of accounts the cookie is another user's.
    if (!chosen || chosen.userId !== session.user?.id) return session
    const member = await findMember(await rowsOf(plugin, ctx), chosen.organizationId, chosen.userId)
    return member ? { ...session, organization: { id: member.organizationId, role: member.role } } : session
  }
  return {
    read: async (ctx) => nameOrganization(ctx, await inner.read(ctx)),
    update: async (ctx, data) => nameOrganization(ctx, await inner.update(ctx, data)),
  }
}

/** Whether the owner of a key is a member of the organization that the key is for. Null: no member. */
export async function findKeyOrganization(
  plugin: PluginInstance,
  { organizationId, userId, ctx }: HookMessage<'keyOrganization'>,
): Promise<ActiveOrganization | null> {
  const member = await findMember(await rowsOf(plugin, ctx), organizationId, userId)
  return member && { id: member.organizationId, role: member.role }
}
