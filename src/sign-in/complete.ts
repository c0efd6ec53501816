/** How every sign-in ends, whatever its type: the order of things (D44). */
import type { StampOfAccess } from '../contract/access.ts'
import type { AccountKey, AdapterAccount, AdapterUser, Store } from '../contract/adapter.ts'
import type { Context } from '../contract/context.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Identity, Login } from '../contract/login.ts'
import type { Events, SignInQuestion } from '../contract/messages.ts'
import type { Provider } from '../contract/provider.ts'
import { AccessDenied, AuthError } from '../errors/index.ts'
import { withParams } from '../http/redirect.ts'
import { redirectTo } from '../http/messages.ts'
import { abilitiesOf } from '../registry/strategies.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { attributesOf } from '../session/attributes.ts'
import { ownerAfterLateWrites, identityKey } from './write.ts'
import { linkIdentity, undoLinkOnFailure } from './link.ts'

/** From an identity to a session. Throws AccessDenied and what linking throws. */
export async function completeSignIn(ctx: KernelContext, identity: Identity): Promise<Response> {
  try {
    ctx.assertNoCredential()
    const login = await resolveIdentity(ctx, identity)
    return 'status' in login ? login : await continueLogin(ctx, login)
  } catch (error) {
    await notifyFailure(ctx, identity, error)
    throw error
  }
}

async function resolveIdentity(ctx: KernelContext, given: Identity): Promise<Login | Response> {
  const callbackUrl = await ctx.callbackUrl()
  assertStarter(ctx, given)
  const found = given.former ? await withFormerAccount(ctx, given, given.former) : given
  const known = found.ownerAfterSignIn ? null : await findAccountOwner(ctx, found)
  // Before anything is asked or written: an ending that comes later makes this sign-in void.
  if (known) await ctx.access.stamp(`user:${known.id}`)
  const identity = found.match === 'email' ? withOwner(found, known) : found
  const verdict = await askSignIn(ctx, createQuestion(identity, known))
  if (typeof verdict === 'string') return ctx.redirect(verdict)
  const owner = found.ownerAfterSignIn ? await findAccountOwner(ctx, found) : known
  // Nothing more may be made of a request that was given up: no user and no session.
  ctx.assertAwaited()
  const login = await linkIdentity(ctx, identity, owner)
  if ('status' in login) return login
  const { proof = { amr: [] } } = identity
  return { ...login, callbackUrl, purpose: 'signIn', passed: [], proof: { factors: 1, ...proof }, person: personOf(ctx, login) }
}

/** The stamp of a login of this request: the user, and the session at the provider that proved who the user is. */
export async function stampLogin(ctx: KernelContext, login: Login): Promise<StampOfAccess> {
  const { provider, sub, sid } = attributesOf(login, ctx.facts, null, namesIn(ctx, login))
  return ctx.access.stamp(login.person, [{ provider, sub, sid }])
}

function namesIn({ compiled }: KernelContext, { account }: Login): ProviderFlow<Provider>['namesIn'] {
  return compiled.flows.get(account.type)?.namesIn
}

/** From a settled login to a session: plugins in `passed` are not asked again. `access` is the stamp of a login that was parked. */
export async function continueLogin(ctx: KernelContext, login: Login, access?: StampOfAccess): Promise<Response> {
  ctx.assertNoCredential()
  const stamp = access ?? (await stampLogin(ctx, login))
  const session = await undoLinkOnFailure(ctx, login, async () => {
    if (login.purpose === 'signIn') {
      const parked = await ctx.ask('login', { login }, login.passed)
      if (parked) return parked
    }
    ctx.assertAwaited()
    return issueSession(ctx, login, stamp)
  })
  if (session instanceof Response) return session
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
async function issueSession(ctx: KernelContext, login: Login, stamp: StampOfAccess): Promise<Events['signedIn']['session']> {
  const before = login.session === 'new' ? null : ((await ctx.session.attributes?.(ctx)) ?? null)
  const attributes = login.session === 'keep' && before ? before : attributesOf(login, ctx.facts, before, namesIn(ctx, login))
  const purpose = login.session === 'keep' ? 'link' : login.purpose
  const issued = await ctx.access.grant(
    stamp,
    purpose,
    async () => ctx.session.issue(ctx, login, attributes),
    (session) => session && takeBackSession(ctx, session),
  )
  return issued && { id: issued.id, attributes }
}

/** Access ended while the session was stored: its token stays here, and it must not be found later either. */
async function takeBackSession(ctx: KernelContext, session: { id: string }): Promise<void> {
  if (ctx.session.takeBack) return ctx.session.takeBack(ctx, session)
  if (abilitiesOf(ctx.session).has('revoke:id')) await ctx.session.revoke?.(ctx, { id: session.id })
}

/** Text that names a user from one sign-in to the next. */
export function personOf(ctx: Context, { user, account }: Pick<Login, 'user' | 'account'>): string {
  // Without a store an id is made anew at each sign-in at a provider; the account is what stays.
  return ctx.store && user.id !== undefined ? `user:${user.id}` : `account:${account.provider}:${account.providerAccountId}`
}

async function notifyFailure(ctx: Context, identity: Identity, error: unknown): Promise<void> {
  try {
    await identity.onFailed?.(error)
  } catch (failure) {
    ctx.logger.error(failure instanceof Error ? failure : new Error(String(failure)))
  }
}

/** The answer of the `signIn` hook: true or a URL. Throws AccessDenied; AuthErrors thrown by a handler keep their type (row 139). */
export async function askSignIn(ctx: KernelContext, message: SignInQuestion): Promise<true | string> {
  let verdict: boolean | string
  try {
    verdict = await ctx.ask('signIn', message)
  } catch (error) {
    if (error instanceof AuthError) throw error
    const err = error instanceof Error ? error : new Error(String(error))
    throw new AccessDenied(err.message, { cause: { err, provider: message.account.provider } })
  }
  if (verdict === false)
    throw new AccessDenied('The signIn callback rejected this sign-in.', { cause: { provider: message.account.provider } })
  return verdict
}

// Cookies of a flow that leads elsewhere can be planted: only the type knows who began it.
function assertStarter(ctx: KernelContext, { match, startedBy, account: { type } }: Identity): void {
  if (startedBy !== undefined || match !== 'account' || !ctx.compiled.flows.get(type)?.start) return
  throw new AuthError(
    `Provider type "${type}" has \`start\`, and its \`finish\` returned no \`startedBy\`. Keep \`await subjectOf(ctx)\` with what \`start\` stores, and return it; null if no user was signed in.`,
    { cause: { missing: 'startedBy' } },
  )
}

/**
 * The identity with the plain id of its account, where that is its own: it was stored before issuers were told apart, or no user has it and the stored ID
 * token will say whose it is. Else another issuer's user has the plain id.
 */
async function withFormerAccount(ctx: KernelContext, identity: Identity, former: NonNullable<Identity['former']>): Promise<Identity> {
  const { store } = ctx
  const { provider, providerAccountId } = identity.account
  const key = { provider, providerAccountId: former.providerAccountId }
  const plain = {
    ...identity,
    account: { ...identity.account, ...key },
    ...(identity.record && { record: { ...identity.record, ...key } }),
  }
  // Without stored users there is no account that another user could have.
  if (!store) return plain
  if (!store.supports('getUserByAccount') || (await store.getUserByAccount({ provider, providerAccountId }))) return identity
  const owner = await store.getUserByAccount(key)
  if (!owner) return identity.record?.id_token === undefined ? identity : plain
  const stored = await findAccount(store, owner.id, key)
  return stored && former.owns(stored) ? plain : identity
}

/** Null: it is not there, or the adapter cannot show it. */
async function findAccount(store: Store, userId: string, { provider, providerAccountId }: AccountKey): Promise<AdapterAccount | null> {
  if (store.supports('getAccount')) return store.getAccount(providerAccountId, provider)
  const accounts = store.supports('listAccountsByUserId') ? await store.listAccountsByUserId(userId) : []
  return accounts.find((one) => one.provider === provider && one.providerAccountId === providerAccountId) ?? null
}

async function findAccountOwner(ctx: KernelContext, { match, account, user }: Identity): Promise<AdapterUser | null> {
  const { store } = ctx
  if (!store || match === 'none') return null
  const { provider, providerAccountId } = account
  const readUser = (): AdapterUser | null | PromiseLike<AdapterUser | null> => {
    if (match === 'email') return user.email ? store.getUserByEmail(user.email) : null
    return store.getUserByAccount({ provider, providerAccountId })
  }
  return ownerAfterLateWrites(store, identityKey({ match, account, user }), readUser)
}

// An email account has no row of its own; its owner is the user who has the address.
function withOwner(identity: Identity, owner: AdapterUser | null): Identity {
  const userId = (owner ?? identity.user).id
  return userId === undefined ? identity : { ...identity, account: { ...identity.account, userId } }
}

// The stored user when the account is known, else what the provider said (row 140).
function createQuestion(identity: Identity, owner: AdapterUser | null): SignInQuestion {
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
