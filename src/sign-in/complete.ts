/** How every sign-in ends, whatever its type: the order of things (D44). */
import type { AdapterUser } from '../contract/adapter.ts'
import type { Context } from '../contract/context.ts'
import type { Identity, Login } from '../contract/login.ts'
import type { Events, SignInQuestion } from '../contract/messages.ts'
import { AccessDenied, AuthError } from '../errors/index.ts'
import { withParams } from '../http/redirect.ts'
import { redirectTo } from '../http/responses.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { attributesOf } from '../session/attributes.ts'
import { settledOwner } from './late.ts'
import { linkIdentity } from './link.ts'
import { keyOf } from './write.ts'

/** From an identity to a session. Throws AccessDenied and what linking throws. */
export async function complete(ctx: KernelContext, given: Identity): Promise<Response> {
  const found = currentNames(given)
  try {
    const login = await settle(ctx, found)
    return 'status' in login ? login : await resume(ctx, login)
  } catch (error) {
    await cleanUp(ctx, found, error)
    throw error
  }
}

async function settle(ctx: KernelContext, found: Identity): Promise<Login | Response> {
  const callbackUrl = await ctx.callbackUrl()
  assertStarter(ctx, found)
  const known = found.ownerAfterSignIn ? null : await findOwner(ctx, found)
  const identity = found.match === 'email' ? withOwner(found, known) : found
  const verdict = await allow(ctx, question(identity, known))
  if (typeof verdict === 'string') return ctx.redirect(verdict)
  const owner = found.ownerAfterSignIn ? await findOwner(ctx, found) : known
  // Nothing more may be made of a request that was given up: no user and no session.
  ctx.assertAwaited()
  const login = await linkIdentity(ctx, identity, owner)
  if ('status' in login) return login
  const { proof = { amr: [] } } = identity
  return { ...login, callbackUrl, purpose: 'signIn', passed: [], proof: { factors: 1, ...proof }, person: personOf(ctx, login) }
}

/** From a settled login to a session: plugins in `passed` are not asked again. */
export async function resume(ctx: KernelContext, login: Login): Promise<Response> {
  if (login.purpose === 'signIn') {
    const parked = await ctx.ask('login', { login }, login.passed)
    if (parked) return parked
  }
  ctx.assertAwaited()
  const session = await issue(ctx, login)
  const stepUp = login.purpose === 'stepUp'
  if (login.session === 'renew')
    await ctx.emit('noted', {
      name: stepUp ? 'stepUp.completed' : 'session.rotated',
      outcome: 'success',
      user: login.user,
      sessionId: session?.id,
    })
  if (stepUp) return redirectTo(login.callbackUrl)
  if (ctx.has('on', 'signIn')) await ctx.emit('signIn', signInEvent(login))
  await ctx.emit('signedIn', { login, session })
  const { newUser } = ctx.app.config.pages
  if (!login.isNewUser || !newUser) return redirectTo(login.callbackUrl)
  return redirectTo(withParams(newUser, { callbackUrl: login.callbackUrl }))
}

/** What is kept of a session comes from the kernel, whatever the strategy. */
async function issue(ctx: KernelContext, login: Login): Promise<Events['signedIn']['session']> {
  const before = login.session === 'new' ? null : ((await ctx.session.attributes?.(ctx)) ?? null)
  const attributes = login.session === 'keep' && before ? before : attributesOf(login, ctx.facts, before)
  const issued = await ctx.session.issue(ctx, login, attributes)
  return issued && { id: issued.id, attributes }
}

/** Text that names a person from one sign-in to the next. */
export function personOf(ctx: Context, { user, account }: Pick<Login, 'user' | 'account'>): string {
  // Without a store an id is made anew at each sign-in at a provider; the account is what stays.
  return ctx.store && user.id !== undefined ? `user:${user.id}` : `account:${account.provider}:${account.providerAccountId}`
}

async function cleanUp(ctx: Context, identity: Identity, error: unknown): Promise<void> {
  try {
    await identity.onFailed?.(error)
  } catch (failure) {
    ctx.logger.error(failure instanceof Error ? failure : new Error(String(failure)))
  }
}

/** The answer of the `signIn` hook: true or a URL. Throws AccessDenied; AuthErrors thrown by a handler keep their type (row 139). */
export async function allow(ctx: KernelContext, message: SignInQuestion): Promise<true | string> {
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

// Cookies of a flow that leads elsewhere can be planted: only the type knows who began it.
function assertStarter(ctx: KernelContext, { match, startedBy, account: { type } }: Identity): void {
  if (startedBy !== undefined || match !== 'account' || !ctx.compiled.flows.get(type)?.start) return
  throw new AuthError(
    `Provider type "${type}" has \`start\`, and its \`finish\` returned no \`startedBy\`. Keep \`await subjectOf(ctx)\` with what \`start\` stores, and return it; null when nobody was signed in.`,
  )
}

/** Fields under their former names, for types that were written for version 0.1. */
function currentNames(given: Identity): Identity {
  const { registers, updates, settled } = given
  if (registers === undefined && updates === undefined && settled === undefined) return given
  return {
    ...(registers !== undefined && { isRegistration: registers }),
    ...(updates !== undefined && { refreshTokens: updates }),
    ...(settled !== undefined && { ownerAfterSignIn: settled }),
    ...given,
  }
}

async function findOwner(ctx: KernelContext, { match, account, user }: Identity): Promise<AdapterUser | null> {
  const { store } = ctx
  if (!store || match === 'none') return null
  const { provider, providerAccountId } = account
  const read = (): AdapterUser | null | PromiseLike<AdapterUser | null> => {
    if (match === 'email') return user.email ? store.getUserByEmail(user.email) : null
    return store.getUserByAccount({ provider, providerAccountId })
  }
  return settledOwner(store, keyOf({ match, account, user }), read)
}

// An email account has no row of its own; its owner is whoever has the address.
function withOwner(identity: Identity, owner: AdapterUser | null): Identity {
  const userId = (owner ?? identity.user).id
  return userId === undefined ? identity : { ...identity, account: { ...identity.account, userId } }
}

// The stored user when the account is known, else what the provider said (row 140).
function question(identity: Identity, owner: AdapterUser | null): SignInQuestion {
  const { account, profile, credentials } = identity
  const asked: SignInQuestion = { user: owner ?? identity.user, account }
  if (profile) asked.profile = profile
  if (credentials) asked.credentials = credentials
  return withKnown(asked, owner !== null)
}

/** Adds `known` to the question: not enumerable, so that it stays what hosts of Auth.js compare. */
export function withKnown(asked: SignInQuestion, known: boolean): SignInQuestion {
  return Object.defineProperty(asked, 'known', { value: known })
}

function signInEvent({ user, account, profile, isNewUser, match }: Login): Events['signIn'] {
  // Unknown identities have no "new" (row 148); without a store it is there and undefined.
  return { user, account, ...(profile && { profile }), ...(match === 'none' ? {} : { isNewUser }) }
}
