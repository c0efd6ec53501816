/** The active organization: in a sealed cookie of its person, and checked at each session read. */
import { type AnyContext, type Context, type CookieHandle, createCookie, type Session, type SessionStrategy } from 'authkernel/kernel'
import { actorOf, type Desk, memberOf, rowsOf, seatIn } from './desk.ts'

/** What a session says of it. */
export interface ActiveOrganization {
  id: string
  role: string
}
// Where hosts add theirs: TypeScript loses one of two augmentations that come by different modules.
declare module 'authkernel' {
  interface Session {
    /** There while the person is a member of the organization that they chose. */
    organization?: ActiveOrganization
  }
}

const seconds = 400 * 86_400
export const activeCookie: CookieHandle = /* @__PURE__ */ createCookie('organization', { maxAge: seconds })
interface Chosen {
  userId: string
  organizationId: string
}

/** Null: none. Throws NoSuchOrganization for whoever is no member. */
export async function setActive(desk: Desk, ctx: Context, id: string | null): Promise<void> {
  const actor = await actorOf(desk, ctx)
  if (id === null) return activeCookie.delete(ctx)
  const { organization } = await seatIn(actor, id)
  const chosen: Chosen = { userId: actor.user?.id as string, organizationId: organization.id }
  activeCookie.set(ctx, await activeCookie.seal(ctx, { ...chosen }, seconds))
}

/** The session strategy, whose sessions name the active organization. One query, where one was chosen. */
export function withActive(desk: Desk, inner: SessionStrategy): Partial<SessionStrategy> {
  const named = async (ctx: Context, session: Session | null): Promise<Session | null> => {
    if (!session || activeCookie.get(ctx) === undefined) return session
    const chosen = await activeCookie.open<Chosen>(ctx)
    // Of the person who is here: after a switch of accounts it is another one's.
    if (!chosen || chosen.userId !== session.user?.id) return session
    const member = await memberOf(await rowsOf(desk, ctx), chosen.organizationId, chosen.userId)
    return member ? { ...session, organization: { id: member.organizationId, role: member.role } } : session
  }
  return {
    read: async (ctx) => named(ctx, await inner.read(ctx)),
    update: async (ctx, data) => named(ctx, await inner.update(ctx, data)),
  }
}

/** What plugins of keys ask: whether the owner of a key is a member of the organization that the key is for. */
export interface KeyQuestion {
  organizationId: string
  userId: string
  ctx: AnyContext
}

/** Null: no member. */
export async function seatOfKey(desk: Desk, { organizationId, userId, ctx }: KeyQuestion): Promise<ActiveOrganization | null> {
  const member = await memberOf(await rowsOf(desk, ctx), organizationId, userId)
  return member && { id: member.organizationId, role: member.role }
}
