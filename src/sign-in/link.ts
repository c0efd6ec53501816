/** The only writer of users and accounts: who an identity belongs to, and what is stored for it. */
import type { Account } from '../contract/account.ts'
import type { AdapterUser, Store } from '../contract/adapter.ts'
import type { User } from '../contract/data.ts'
import type { Identity, Login } from '../contract/login.ts'
import { AccountNotLinked, type AuthError, CallbackRouteError } from '../errors/index.ts'
import { toAddress } from '../http/mail-address.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { subjectOf } from './prove-again.ts'
import { type Claim, canProveAddresses, claimOf, evictUser, isTyped } from './unproved.ts'
import { AddressTaken, type SignInWrite, accountOf, awaitOwner, recordOf, writeOnce } from './write.ts'

/** A login that still lacks its destination and what was proved. */
export type LinkedLogin = Omit<Login, 'callbackUrl' | 'purpose' | 'passed' | 'proof' | 'person'>

/** Finds or makes the owner and stores what is new. Throws OAuthAccountNotLinked / AccountNotLinked, AdapterError, or what `onLinked` throws. */
export async function linkIdentity(ctx: KernelContext, identity: Identity, owner: AdapterUser | null): Promise<LinkedLogin | Response> {
  if (identity.match === 'none') return loginWithoutAccount(ctx, identity)
  if (!ctx.store) return createLogin(identity, identity.user, { isNewUser: undefined })
  const current = await ctx.session.user(ctx)
  return identity.match === 'email' ? linkByEmail(ctx, identity, owner, current) : linkByAccount(ctx, identity, owner, current)
}

/** Nothing is stored for these; a strategy that points to stored users needs one to point to (D52). */
async function loginWithoutAccount(ctx: KernelContext, identity: Identity): Promise<LinkedLogin> {
  if (ctx.session.storedUsers) {
    const { id } = identity.user
    const stored = id ? await ctx.store?.getUser(id) : null
    if (!stored) {
      throw new CallbackRouteError(
        `Provider "${identity.account.provider}" returned a user that is not stored. With the database strategy authorize() must return ` +
          'the `id` of a stored user: create the user first, or use session.strategy "jwt".',
        { cause: { provider: identity.account.provider } },
      )
    }
  }
  return createLogin(identity, identity.user, { isNewUser: false })
}

async function linkByAccount(
  ctx: KernelContext,
  identity: Identity,
  owner: AdapterUser | null,
  current: User | null,
): Promise<LinkedLogin | Response> {
  const store = ctx.store as NonNullable<KernelContext['store']>
  // A user who is signed in meant to link the account: not to become another user, nor to make one.
  const isOwn = owner !== null && current?.id === owner.id
  if (typeof identity.startedBy === 'string' && !isOwn && identity.startedBy !== (await subjectOf(ctx)))
    throw await notLinkedError(ctx, 'The user who started the sign-in is no longer signed in here: sign in, and start it again.')
  if (owner) {
    if (current && current.id !== owner.id)
      throw await notLinkedError(ctx, 'The account belongs to another user than the one who is signed in.')
    if (identity.provesEmail && !owner.emailVerified && sameAddress(owner.email, identity.user.email))
      return linkByAccount(ctx, identity, await setVerified(ctx, owner), current)
    // Attestation "none" signs no credential id: an attacker who knows another user's could register it and be taken for the owner.
    if (!current && identity.isRegistration) throw await registeredElsewhereError(ctx)
    if (store.supports('updateAccount') && (identity.refreshTokens || (await replacesUnreadable(store, identity))))
      await store.updateAccount(accountOf(identity, owner.id))
    // Signing in again proves something anew: the new session has the attributes of this sign-in, and the token of the former one is dead.
    return createLogin(identity, owner, {
      isNewUser: false,
      previous: current,
      session: current && identity.isRegistration ? 'keep' : 'new',
    })
  }
  if (current?.id) {
    // Cookies of a flow can be planted by a sibling sub-domain: then an attacker went to the provider, to own a way into this user.
    if (identity.startedBy !== undefined && identity.startedBy !== (await subjectOf(ctx)))
      throw await notLinkedError(ctx, 'The sign-in was not started by the user who is signed in now: start it again to link the account.')
    return linkAccountTo(ctx, identity, await requireProvedAddress(ctx, identity, current as AdapterUser), current)
  }

  const { email } = identity.user
  const sameEmail = email && store.supports('getUserByEmail') ? await store.getUserByEmail(email) : null
  if (!sameEmail) return createOwner(ctx, identity)
  // The user of this address may be this very person, made by a request a moment ago.
  const owned = await awaitOwner(ctx, identity, identity.trustsEmail === true)
  if (owned && identity.isRegistration) throw await registeredElsewhereError(ctx)
  if (owned) return createLogin(identity, owned, { isNewUser: false })
  const proved = identity.trustsEmail === true || identity.provesEmail === true
  const claim = proved ? await claimOf(ctx, sameEmail) : 'believed'
  if (claim !== 'believed') {
    const emptied = await evictUser(ctx, sameEmail, claim)
    if (!emptied) return createOwner(ctx, identity)
    return linkAccountTo(ctx, identity, identity.provesEmail ? await setVerified(ctx, emptied) : emptied, null)
  }
  if (identity.trustsEmail) return linkAccountTo(ctx, identity, sameEmail, null)
  throw await notLinkedError(
    ctx,
    'Another user has the same address. Sign in as that user and link the account, or see allowDangerousEmailAccountLinking.',
  )
}

/** Whether this sign-in brings a token instead of a stored one that no secret decrypts. Asks only stores that encrypt. */
async function replacesUnreadable(store: Store, identity: Identity): Promise<boolean> {
  if (!store.encryptsTokens || !store.supports('getAccount')) return false
  const { provider, providerAccountId } = identity.account
  const { unreadable = [] } = (await store.getAccount(providerAccountId, provider)) ?? {}
  const fresh = recordOf(identity)
  return unreadable.some((name) => fresh[name] !== undefined)
}

async function createOwner(ctx: KernelContext, identity: Identity): Promise<LinkedLogin | Response> {
  let written: SignInWrite
  try {
    written = await writeOnce(ctx, identity)
  } catch (error) {
    // Another user was made with this address meanwhile.
    if (error instanceof AddressTaken) return linkByAccount(ctx, identity, null, null)
    throw error
  }
  // Another request registered it at the same moment: that is its user, not ours.
  if (identity.isRegistration && !written.createdUser) throw await registeredElsewhereError(ctx)
  await emitLinkEvents(ctx, identity, written)
  return createLogin(identity, written.user, { isNewUser: written.createdUser })
}

/** An existing user gets one more account; no createUser event (row 155). */
async function linkAccountTo(
  ctx: KernelContext,
  identity: Identity,
  user: AdapterUser,
  current: User | null,
): Promise<LinkedLogin | Response> {
  const verdict = ctx.has('hook', 'link') ? await ctx.ask('link', { user, account: identity.account }) : true
  if (typeof verdict === 'string') return ctx.redirect(verdict)
  if (!verdict) throw await notLinkedError(ctx, 'The link hook rejected the account.')
  const stamp = (current ? await ctx.access.stampSession(current) : null) ?? (await ctx.access.stamp(`user:${user.id}`))
  const written = await ctx.access.grant(
    stamp,
    'link',
    async () => writeOnce(ctx, identity, user),
    // Access ended meanwhile: the account must not stay as a way to sign in.
    (written) => (written?.linked ? unlinkAccount(ctx, identity.account, user.id) : undefined),
  )
  await emitLinkEvents(ctx, identity, written)
  // Another request may have been faster: the account then belongs to the user who was linked first.
  if (written.user.id !== user.id) throw await notLinkedError(ctx, 'The account was linked to another user at the same moment.')
  return createLogin(identity, written.user, {
    isNewUser: false,
    previous: current,
    session: current ? 'keep' : 'new',
    ...(written.linked && { linked: true }),
  })
}

async function linkByEmail(ctx: KernelContext, identity: Identity, owner: AdapterUser | null, current: User | null): Promise<LinkedLogin> {
  const user = owner && (await verifyEmail(ctx, owner, current))
  if (user) return createLogin(identity, user, { isNewUser: false, previous: current })
  // The former holder of the address is not the owner.
  const own = owner ? { ...identity, account: withoutOwner(identity.account) } : identity
  const written = await writeOnce(ctx, own)
  if (written.createdUser) await ctx.emit('createUser', { user: written.user })
  const found = written.createdUser ? written.user : await verifyEmail(ctx, written.user as AdapterUser, current)
  return createLogin(own, found ?? written.user, { isNewUser: written.createdUser, previous: current })
}

function withoutOwner({ userId: _userId, ...account }: Account): Account {
  return account as Account
}

/** The first email sign-in proves the address; later ones change nothing (D16). Null: `owner` was another user, and has lost the address. */
async function verifyEmail(ctx: KernelContext, owner: AdapterUser, current: User | null): Promise<AdapterUser | null> {
  if (owner.emailVerified || !ctx.store) return owner
  const claim: Claim = current?.id === owner.id ? 'believed' : await claimOf(ctx, owner)
  const user = claim === 'believed' ? owner : await evictUser(ctx, owner, claim)
  return user && setVerified(ctx, user)
}

async function setVerified(ctx: KernelContext, { id }: AdapterUser): Promise<AdapterUser> {
  const user = await (ctx.store as NonNullable<KernelContext['store']>).updateUser({ id, emailVerified: ctx.now })
  await ctx.emit('updateUser', { user })
  return user
}

/**
 * Nothing is added to a user whose address was only typed: the user who proves it later would share the account with the visitor who typed it. An account that
 * proves this very address is the way out. Where no provider can prove an address, a further passkey is fine.
 */
async function requireProvedAddress(ctx: KernelContext, identity: Identity, user: AdapterUser): Promise<AdapterUser> {
  const typing = ctx.compiled.flows.get(identity.account.type)?.typed !== undefined
  if ((typing && !canProveAddresses(ctx)) || !(await isTyped(ctx, user))) return user
  if (identity.provesEmail && sameAddress(user.email, identity.user.email)) return setVerified(ctx, user)
  throw await notLinkedError(ctx, 'The email of the signed-in user is not verified: verify it by a link in a mail, then add accounts.')
}

function sameAddress(one: string | null | undefined, other: string | null | undefined): boolean {
  if (!one || !other) return false
  return one.toLowerCase() === other.toLowerCase() || (toAddress(one) ?? 0) === toAddress(other)
}

// D44: after all writes, in this order.
async function emitLinkEvents(ctx: KernelContext, identity: Identity, { user, createdUser, linked }: SignInWrite): Promise<void> {
  if (createdUser) await ctx.emit('createUser', { user })
  if (linked) await ctx.emit('linkAccount', { user, account: recordOf(identity) as Account, profile: identity.user })
}

function createLogin(identity: Identity, user: User, rest: Partial<LinkedLogin> & Pick<LinkedLogin, 'isNewUser'>): LinkedLogin {
  const { profile, match } = identity
  // With its owner, who was not known when the question was asked.
  const account = identity.ownerAfterSignIn && user.id !== undefined ? { ...identity.account, userId: user.id } : identity.account
  const trigger = rest.isNewUser ? 'signUp' : 'signIn'
  const settled: LinkedLogin = { user, account, trigger, session: 'new', previous: null, match, ...rest }
  if (profile) settled.profile = profile
  return settled
}

function registeredElsewhereError(ctx: KernelContext): Promise<AuthError> {
  return notLinkedError(ctx, 'The account that was to be registered already belongs to a user.')
}

async function notLinkedError(ctx: KernelContext, message: string): Promise<AuthError> {
  const flow = ctx.flow(await ctx.provider())
  return flow.notLinked?.(message) ?? new AccountNotLinked(message)
}

/** Does `work`; when it throws, the account of the login is unlinked again. A failure of that is logged. */
export async function undoLinkOnFailure<T>(ctx: KernelContext, login: Login, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { account, linked, user } = login
    if (linked && user.id !== undefined)
      await unlinkAccount(ctx, account, user.id).catch((failure: unknown) => ctx.logger.error(failure as Error))
    throw error
  }
}

/** Takes the account away again, with what its provider type stored beside it. */
async function unlinkAccount(ctx: KernelContext, account: Account, userId: string): Promise<void> {
  const { provider, providerAccountId, type } = account
  if (!ctx.store?.supports('unlinkAccount')) return
  await ctx.store.unlinkAccount({ provider, providerAccountId })
  await ctx.compiled.flows.get(type)?.onUnlinked?.(ctx, { provider, providerAccountId }, userId)
}
