/** How every sign-in ends, whatever its type: the order of things (WIRE section 9, D44). */
import type { AdapterUser } from './adapter.ts'
import type { Context } from './context.ts'
import { AccessDenied, AuthError } from './errors.ts'
import type { Identity, Login } from './flow.ts'
import { linkIdentity } from './link.ts'
import type { Events, SignInQuestion } from './messages.ts'
import { withParams } from './redirect.ts'
import { redirectTo } from './responses.ts'

/** From an identity to a session. Throws AccessDenied and what linking throws. */
export async function complete(ctx: Context, found: Identity): Promise<Response> {
  const callbackUrl = await ctx.callbackUrl()
  const known = found.settled ? null : await findOwner(ctx, found)
  const identity = found.match === 'email' ? withOwner(found, known) : found
  const verdict = await allow(ctx, question(identity, known))
  if (typeof verdict === 'string') return ctx.redirect(verdict)
  const owner = found.settled ? await findOwner(ctx, found) : known
  assertAwaited(ctx)
  const login = await linkIdentity(ctx, identity, owner)
  return 'status' in login ? login : resume(ctx, { ...login, callbackUrl })
}

/** From a settled login to a session; a second factor calls it with its own name as `skip`. */
export async function resume(ctx: Context, login: Login, skip?: string): Promise<Response> {
  const parked = await ctx.ask('login', { login, ctx }, skip)
  if (parked) return parked
  assertAwaited(ctx)
  await ctx.session.issue(ctx, login)
  await ctx.emit('signIn', signInEvent(login))
  const { newUser } = ctx.app.config.pages
  if (!login.isNewUser || !newUser) return redirectTo(login.callbackUrl)
  return redirectTo(withParams(newUser, { callbackUrl: login.callbackUrl }))
}

/** The answer of the `signIn` decision: true or a URL. Throws AccessDenied; AuthErrors thrown by a handler keep their type (row 139). */
export async function allow(ctx: Context, message: SignInQuestion): Promise<true | string> {
  let verdict: boolean | string
  try {
    verdict = await ctx.ask('signIn', message)
  } catch (error) {
    if (error instanceof AuthError) throw error
    const err = error instanceof Error ? error : new Error(String(error))
    throw new AccessDenied(err.message, { cause: { err, provider: message.account.provider } })
  }
  if (verdict === false)
    throw new AccessDenied('The signIn callback refused this sign-in.', { cause: { provider: message.account.provider } })
  return verdict
}

// Whoever asked was told that it failed: nothing more may be made of it, no user and no session (D31).
function assertAwaited({ signal }: Context): void {
  if (signal.aborted) throw signal.reason as Error
}

async function findOwner(ctx: Context, { match, account, user }: Identity): Promise<AdapterUser | null> {
  const { store } = ctx
  if (!store || match === 'none') return null
  if (match === 'email') return user.email ? store.getUserByEmail(user.email) : null
  return store.getUserByAccount({ provider: account.provider, providerAccountId: account.providerAccountId })
}

// An email account has no row of its own; its owner is whoever has the address (WIRE 9.7).
function withOwner(identity: Identity, owner: AdapterUser | null): Identity {
  const userId = (owner ?? identity.user).id
  return userId === undefined ? identity : { ...identity, account: { ...identity.account, userId } }
}

// The stored user when the account is known, else what the provider said (row 140).
function question(identity: Identity, owner: AdapterUser | null): SignInQuestion {
  const { account, profile, credentials } = identity
  return { user: owner ?? identity.user, account, ...(profile && { profile }), ...(credentials && { credentials }) }
}

function signInEvent({ user, account, profile, isNewUser, match }: Login): Events['signIn'] {
  // Unknown identities have no "new" (row 148); without a store it is there and undefined (WIRE 9.2).
  return { user, account, ...(profile && { profile }), ...(match === 'none' ? {} : { isNewUser }) }
}
