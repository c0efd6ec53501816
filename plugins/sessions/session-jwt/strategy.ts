/** Issuing, reading and ending sessions that are in the cookie. */
import {
  AccessDenied,
  type Awaitable,
  type Context,
  type Events,
  type JWT,
  lazily,
  type Login,
  type Session,
  type SessionAttributes,
  SignOutError,
  type StrategyWork,
} from 'authkernel/kernel'
import { copyShownFields, isProfileChanged } from 'authkernel/kernel/strategies'
import type { JwtStrategy } from './options.ts'
import {
  type Claim,
  claimHolds,
  clearToken,
  endOf,
  expiryOf,
  type HeldToken,
  latestRevocation,
  newClaim,
  openingError,
  openToken,
  tokenUser,
  writeToken,
} from './token.ts'

// Where sessions are recorded or ended from elsewhere: a read needs none of it.
const loadOtherSessions = /* @__PURE__ */ lazily(() => import('./other-sessions.ts'))

interface IssueOptions {
  login: Login
  attributes: SessionAttributes
  former: HeldToken | null
  /** How far revocations had been read before `former` was looked at. */
  feed: string | undefined
  before: ((id: string) => Awaitable<void>) | undefined
}

/** Data that the client sent. */
interface SessionUpdate {
  data: unknown
}
export function createStrategy(options: JwtStrategy): StrategyWork {
  return {
    read: (ctx) => accessSession(ctx, options),
    update: (ctx, data) => accessSession(ctx, options, { data }),

    async user(ctx) {
      const token = (await currentToken(ctx, options))?.token
      if (!token?.sub) return null
      if (ctx.store?.supports('getUser')) return ctx.store.getUser(token.sub)
      return { ...tokenUser(ctx, token), id: token.sub }
    },

    async subject(ctx) {
      const value = readCookie(ctx)
      const opened = value === undefined ? null : await openToken(ctx, options, value)
      return (opened && claimHolds(ctx, opened.claim) && opened.token.sub) || null
    },

    id: async (ctx) => (await currentToken(ctx, options))?.claim.id ?? null,

    async attributes(ctx) {
      const { id: _id, feed: _feed, ...attributes }: Partial<Claim> = (await currentToken(ctx, options))?.claim ?? {}
      return (attributes as Partial<SessionAttributes>).provider === undefined ? null : (attributes as SessionAttributes)
    },

    kinds: async (ctx) => (await currentToken(ctx, options))?.claim.kinds ?? [],

    async issue(ctx, login, attributes, before) {
      if (options.revocations) await options.revocations.sync()
      // What is written after this moment reaches the new token, also where it ends the former one only after it was looked at.
      const feed = options.revocations?.place?.()
      const former = login.session !== 'new' || options.revocable ? await currentToken(ctx, options) : null
      return issueToken(ctx, options, { login, attributes, former, feed, before })
    },

    // The token has not left the server: what is left is the row that lists it.
    async takeBack(ctx, { id }) {
      if (options.lists) await (await loadOtherSessions()).forgetSession(ctx, id)
    },

    async isLive(ctx) {
      const current = await currentToken(ctx, options)
      if (!current || !options.revocations) return current !== null
      // A read under way may have begun before the ending: the second one has not.
      await options.revocations.sync(current.claim.feed)
      await options.revocations.sync(current.claim.feed)
      return isStillValid(ctx, options, current)
    },

    async end(ctx): Promise<Events['signOut'] | null> {
      const value = readCookie(ctx)
      clearToken(ctx)
      if (value === undefined) return null
      const opened = await openToken(ctx, options, value)
      if (!opened) {
        ctx.logger.error(
          new SignOutError('The session token of a sign-out could not be opened: it is expired, altered, or from another secret.'),
        )
        return null
      }
      const { token, claim } = opened
      if (options.revocable) await (await loadOtherSessions()).revokeSessions(ctx, options, { id: claim.id }, claim.feed)
      return { token }
    },

    list: async (ctx, userId) => (await loadOtherSessions()).listSessions(ctx, options, userId),
    revoke: async (ctx, which) => (await loadOtherSessions()).revokeSessions(ctx, options, which),
  }
}

/** A token for a login; `former` is the one of the browser, where it counts. Throws AccessDenied when the session to renew has ended. */
export async function issueToken(
  ctx: Context,
  options: JwtStrategy,
  { login, attributes, former, feed, before }: IssueOptions,
): Promise<{ id: string } | null> {
  const { user, account, profile, isNewUser, trigger, session } = login
  if (session === 'renew' && (!former || former.token.sub !== user.id))
    throw new AccessDenied('The session to renew has ended. Sign in again.')
  const fresh: JWT = { name: user.name, email: user.email, picture: user.image, ...(user.id !== undefined && { sub: user.id }) } as JWT
  copyShownFields(ctx.store, user, fresh)
  const message = profile
    ? { token: fresh, user, account, profile, isNewUser, trigger }
    : { token: fresh, user, account, isNewUser, trigger }
  // A step-up is no sign-in: the token stays what it was, but for an address that the user has changed.
  const token = await ctx.ask('jwt', session === 'renew' && former ? { token: withAddress(former.token, user) } : message)
  if (token === null) {
    clearToken(ctx)
    return null
  }
  const keeps = session === 'keep' && former !== null
  const claim = keeps
    ? former.claim
    : newClaim(ctx, options, token, session === 'renew' && former ? withFormerMarks(attributes, former.claim) : attributes, feed)
  if (!keeps) await before?.(claim.id)
  if (options.lists) await (await loadOtherSessions()).recordSession(ctx, options, { token, claim })
  await writeToken(ctx, options, { token, claim })
  // The former token must not outlive the new one: it may have been planted, or copied.
  if (former && former.claim.id !== claim.id && options.revocable)
    await (await loadOtherSessions()).revokeSessions(ctx, options, { id: former.claim.id }, former.claim.feed)
  return { id: claim.id }
}

/** A session stays of its kinds and keeps its end, whatever was kept of its attributes elsewhere. */
function withFormerMarks(attributes: SessionAttributes, { kinds = [], until, actor }: HeldToken['claim']): SessionAttributes {
  const all = [...new Set([...(attributes.kinds ?? []), ...kinds])]
  return {
    ...attributes,
    ...(all.length > 0 && { kinds: all }),
    ...(until !== undefined && { until }),
    ...(actor !== undefined && { actor }),
  }
}

function withAddress(token: JWT, { email }: Login['user']): JWT {
  return typeof token.email === 'string' && email && token.email !== email ? { ...token, email } : token
}

/** One access: the jwt and session hooks, and a new cookie when it is due. */
async function accessSession(ctx: Context, options: JwtStrategy, update?: SessionUpdate): Promise<Session | null> {
  const value = readCookie(ctx)
  if (value === undefined) return null
  let reason: unknown
  const opened = await openToken(ctx, options, value, (error) => (reason = error))
  if (!opened) {
    ctx.logger.error(openingError(reason))
    clearToken(ctx)
    return null
  }
  // Neither hooks nor events see the claim, and none of them can change it.
  const { token, claim, isOutdated } = opened
  if (!(await isStillValid(ctx, options, opened))) {
    clearToken(ctx)
    return null
  }
  // Dropping an old secret must not sign users out.
  const due = ctx.canSetCookies && (update !== undefined || isOutdated || ageOf(ctx, token.iat) >= options.updateAge)
  // A role that changed is in the token from the next update on.
  const isChanged = update !== undefined && isProfileChanged(ctx)
  if (update && token.sub && (isChanged || ctx.store?.shownFields.length) && ctx.store?.supports('getUser')) {
    const user = await ctx.store.getUser(token.sub)
    if (user) copyShownFields(ctx.store, user, token)
    if (user && isChanged) Object.assign(token, { name: user.name ?? null, picture: user.image ?? null })
  }
  // Hosts change the token in place, so what it was is kept as text.
  const asksHook = update !== undefined || ctx.has('hook', 'jwt')
  const before = asksHook ? JSON.stringify(token) : ''
  const answer = asksHook ? await ctx.ask('jwt', { token, ...(update && { trigger: 'update', session: update.data }) }) : token
  if (answer === null) {
    clearToken(ctx)
    return null
  }
  const renews = due || (ctx.canSetCookies && asksHook && JSON.stringify(answer) !== before)
  // What this process believes may be seconds old: it must not make a new token of one that was revoked elsewhere.
  if (renews && options.revocations) {
    await options.revocations.sync(claim.feed)
    if (latestRevocation(options.revocations, ctx.settings.namespace, token, claim)) {
      clearToken(ctx)
      return null
    }
  }
  const expires = renews ? expiryOf(ctx, options, claim) : endOf(ctx, options, { token, claim })

  const plain: Session = { user: tokenUser(ctx, answer), expires: expires.toISOString() }
  const session = ctx.has('hook', 'session')
    ? await ctx.ask('session', { session: plain, token: answer, ...(update && { newSession: update.data, trigger: 'update' }) })
    : plain
  // The hooks took time, and the user may have signed out meanwhile.
  if (renews && !(await isStillValid(ctx, options, opened))) {
    clearToken(ctx)
    return null
  }
  if (renews) {
    await writeToken(ctx, options, { token: answer, claim })
    if (options.lists) await (await loadOtherSessions()).extendSession(ctx, options, claim)
  }
  // Each check fires the event, also one that the host's hook ends with null (row 156).
  if (ctx.has('on', 'session')) await ctx.emit('session', { session: session as Session, token: answer })
  return session
}

/** The token of this browser when it counts, without any trace in log or cookies. */
async function currentToken(ctx: Context, options: JwtStrategy): Promise<HeldToken | null> {
  const value = readCookie(ctx)
  const opened = value === undefined ? null : await openToken(ctx, options, value)
  return opened && (await isStillValid(ctx, options, opened)) ? opened : null
}

function isStillValid(ctx: Context, options: JwtStrategy, held: HeldToken): Awaitable<boolean> {
  const { token, claim } = held
  const { absoluteMaxAge, revocable } = options
  if (!claimHolds(ctx, claim)) return false
  // A token from before the cap was configured has no beginning: it ends now rather than never.
  if (absoluteMaxAge !== undefined && (hasNoStart(token, claim) || !(ctx.runtime.now() < claim.started + absoluteMaxAge * 1000)))
    return false
  return !revocable || isUnrevoked(ctx, options, held)
}

async function isUnrevoked(ctx: Context, { revocations }: JwtStrategy, { token, claim }: HeldToken): Promise<boolean> {
  if (!revocations) return !(await ctx.once.taken(`ended ${claim.id}`))
  const now = ctx.runtime.now()
  const { namespace } = ctx.settings
  if (revocations.follow) await revocations.follow(claim.feed)
  else if (now >= revocations.freshUntil) await revocations.sync()
  // Not waited for. When it fails the copy ages, and then a request waits.
  else if (now >= revocations.renewAt) revocations.sync().catch(() => {})
  if (!revocations.complete && (await revocations.ended(`${namespace} id:${claim.id}`, claim.feed))) return false
  return !latestRevocation(revocations, namespace, token, claim)
}

function hasNoStart(token: JWT, { provider }: Claim): boolean {
  return provider === undefined && token['sst'] === undefined
}

function readCookie(ctx: Context): string | undefined {
  return ctx.chunkedCookie(ctx.cookies.sessionToken.name)
}

/** Seconds since the token was issued; a host's own token may not say. */
function ageOf(ctx: Context, iat: number | undefined): number {
  return iat === undefined ? Infinity : ctx.runtime.now() / 1000 - iat
}
