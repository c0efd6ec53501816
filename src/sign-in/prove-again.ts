/** Who is signed in, and how fresh the proof of it is. */
import type { Context } from '../contract/context.ts'
import type { Session, User } from '../contract/data.ts'
import type { StepUpDemand } from '../contract/flow.ts'
import { AccessDenied } from '../errors/index.ts'
import { redirectTo } from '../http/messages.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { type ProofDemand, isFreshProof } from '../session/attributes.ts'

/** Who is signed in, as text to compare; null: signed out. */
export async function subjectOf(ctx: Context): Promise<string | null> {
  return ctx.session.subject ? ctx.session.subject(ctx) : ((await ctx.session.user(ctx))?.id ?? null)
}

/**
 * The user whose own session the request has; null: signed out, or a guest. Also null for an API key, the token of an app, and an administrator who acts as the user. With `act` these throw AccessDenied, whose message begins with it.
 */
export async function findOwnUser(ctx: Context, act?: string): Promise<User | null> {
  const session = await ctx.currentSession()
  if (!session) return null
  if (isDelegated(ctx, session)) {
    if (act === undefined) return null
    throw new AccessDenied(
      `${act}: only for the session of the user, not for an API key, an app, or an administrator who acts as the user.`,
    )
  }
  const user = await ctx.session.user(ctx)
  // What a plugin recognized by other means may be another user than the one of the cookie.
  return user && (session.user?.id === undefined || session.user.id === user.id) ? user : null
}

/** A credential in a header makes the session, or another user is in it (`actor` in `SessionAttributes`). */
function isDelegated(ctx: Context, session: Session): boolean {
  return (ctx as KernelContext).presented.length > 0 || (session as { actor?: unknown }).actor !== undefined
}

/**
 * Whether the session of this request was proved as demanded. Where the user has a second factor, it must have been proved within `maxAge`, whatever
 * `level` says: neither a trusted device nor an email code stands in for it. False if the request is signed out. Says nothing about API keys and
 * administrators who act as the user: `findOwnUser` rejects them.
 */
export async function hasFreshProof(ctx: Context, demand: ProofDemand): Promise<boolean> {
  const attributes = await ctx.session.attributes?.(ctx)
  if (!attributes) return false
  // A class is the word of a provider, and says by itself what was proved.
  const level = demand.acr ? demand.level : await levelFor(ctx, demand.level)
  return isFreshProof(attributes, { ...demand, level }, ctx.now)
}

/**
 * Undefined where `hasFreshProof` holds; else a redirect through the second factor, the provider or the first method, and back to the URL `back`. For
 * what matters most: a deletion, another address.
 */
export async function proveAgain(ctx: Context, maxAge: number, back: string): Promise<Response | undefined> {
  if (await hasFreshProof(ctx, { maxAge })) return undefined
  return leadToProof(ctx, { maxAge, level: await levelFor(ctx, undefined) }, back)
}

/**
 * Leads to what `demand` asks for and back to the URL `back`. The first that exists: a factor of this site, the provider of the session, the first method that gives a new session.
 */
export async function leadToProof(ctx: Context, { maxAge, level, acr }: ProofDemand, back: string): Promise<Response> {
  const login = await ctx.loginAgain({ callbackUrl: back })
  const demand = login && { login, level, maxAge, ...(acr && { acr }) }
  const answer = demand && ((await ctx.ask('stepUp', demand)) ?? (await askProvider(ctx, demand)))
  return answer ?? redirectTo(`${ctx.base}/signin?callbackUrl=${encodeURIComponent(back)}`)
}

/** The provider that the session began with, where its type can prove the user again. */
async function askProvider(ctx: Context, demand: Omit<StepUpDemand, 'sub'>): Promise<Response | undefined> {
  const { provider: id, sub } = (await ctx.session.attributes?.(ctx)) ?? {}
  if (id === undefined || sub === undefined) return undefined
  // Sessions begin elsewhere too: those of guests name no provider.
  const provider = await ctx.providerById(id).catch(() => undefined)
  return provider && ctx.flow(provider).stepUp?.(ctx, provider, { ...demand, sub })
}

async function levelFor(ctx: Context, level: 'mfa' | undefined): Promise<'mfa' | undefined> {
  if (level === 'mfa') return level
  const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
  return login ? ((await ctx.ask('proofLevel', { login })) ?? undefined) : undefined
}
