/** Asking people who are signed in to prove again who they are. */
import type { Context } from '../contract/context.ts'
import { redirectTo } from '../http/responses.ts'
import { isFreshProof, type ProofDemand } from '../session/fresh-proof.ts'

/**
 * Whether the session of this request was proved as demanded. Where the user has a second factor, it must have been proved within `maxAge`, whatever
 * `level` says: neither a trusted device nor a mailed code stands in for it. False if the request is signed out. Says nothing about API keys and people
 * who act as another user: refuse them yourself.
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
  const login = await ctx.loginAgain({ callbackUrl: back })
  const asked = login && { login, level: await levelFor(ctx, undefined), maxAge }
  const led = asked && ((await ctx.ask('stepUp', asked)) ?? (await ctx.app.services.oauth?.stepUp?.(ctx, asked)))
  return led ?? redirectTo(`${ctx.base}/signin?callbackUrl=${encodeURIComponent(back)}`)
}

async function levelFor(ctx: Context, level: 'mfa' | undefined): Promise<'mfa' | undefined> {
  if (level === 'mfa') return level
  const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
  return login ? ((await ctx.ask('proofLevel', { login })) ?? undefined) : undefined
}
