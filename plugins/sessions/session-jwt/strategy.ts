/** Issuing, reading and ending sessions that are in the cookie. */
import {
  type Awaitable,
  type Context,
  type Events,
  type JWT,
  outdatedKey,
  type Session,
  type SessionAttributes,
  type StrategyWork,
  SignOutError,
} from 'authkernel/kernel'
import { issue } from './issue.ts'
import { others } from './late.ts'
import {
  type Claim,
  claimName,
  claimOf,
  clear,
  decodeWith,
  endedBy,
  endOf,
  expiry,
  type Held,
  holds,
  open,
  personOf,
  show,
  unopened,
  write,
} from './token.ts'
import type { Made } from './settled.ts'

/** Data that the client sent. */
interface Update {
  data: unknown
}
/** A cookie that was opened; null: it could not be. */
interface Opened {
  value: string
  opened: JWT | null
  update: Update | undefined
}
/** A session that hooks are asked about, or whose cookie is due. */
interface Asking {
  opened: JWT
  claim: Awaitable<Claim>
  validity: Awaitable<boolean>
  due: boolean
  update: Update | undefined
}

export function createStrategy(options: Made): StrategyWork {
  return {
    read: (ctx) => access(ctx, options),
    update: (ctx, data) => access(ctx, options, { data }),

    async user(ctx) {
      const token = (await current(ctx, options))?.token
      if (!token?.sub) return null
      if (ctx.store?.supports('getUser')) return ctx.store.getUser(token.sub)
      return { ...personOf(ctx, token), id: token.sub }
    },

    async subject(ctx) {
      const value = cookieOf(ctx)
      const opened = value === undefined ? null : ((await open(ctx, options, value)) as (JWT & { [claimName]?: Claim }) | null)
      const marks = opened?.[claimName]
      return (opened && (marks === undefined || holds(ctx, marks)) && opened.sub) || null
    },

    id: async (ctx) => (await current(ctx, options))?.claim.id ?? null,

    async attributes(ctx) {
      const { id: _id, ...attributes } = (await current(ctx, options))?.claim ?? {}
      return (attributes as Partial<SessionAttributes>).provider === undefined ? null : (attributes as SessionAttributes)
    },

    kinds: async (ctx) => (await current(ctx, options))?.claim.kinds ?? [],

    async issue(ctx, login, attributes, before) {
      if (options.revocations) await options.revocations.sync()
      const former = login.session !== 'new' || options.revocable ? await current(ctx, options) : null
      return issue(ctx, options, { login, attributes, former, before })
    },

    // The token has not left the server: what is left is the row that lists it.
    async takeBack(ctx, { id }) {
      if (options.lists) await (await others()).forget(ctx, id)
    },

    async isLive(ctx) {
      const held = await current(ctx, options)
      if (!held || !options.revocations) return held !== null
      // A read under way may have begun before the ending: the second one has not.
      await options.revocations.sync()
      await options.revocations.sync()
      return stillValid(ctx, options, held.token, held.claim)
    },

    async end(ctx): Promise<Events['signOut'] | null> {
      const value = cookieOf(ctx)
      clear(ctx)
      if (value === undefined) return null
      const opened = await open(ctx, options, value)
      if (!opened) {
        ctx.logger.error(
          new SignOutError('The session token of a sign-out could not be opened: it is expired, altered, or from another secret.'),
        )
        return null
      }
      const { token, claim } = await held(opened, value)
      if (options.revocable) await (await others()).revoke(ctx, options, { id: claim.id })
      return { token }
    },

    list: async (ctx, userId) => (await others()).list(ctx, options, userId),
    revoke: async (ctx, which) => (await others()).revoke(ctx, options, which),
  }
}

/** One access: the jwt and session hooks, and a new cookie when it is due. No promise where nothing is to be waited for: each turn costs. */
function access(ctx: Context, options: Made, update?: Update): Awaitable<Session | null> {
  const { name } = ctx.cookies.sessionToken
  const value = ctx.chunkedCookie(name)
  if (value === undefined) return null
  if (options.decode) {
    let reason: unknown
    const opening = decodeWith(options.decode, ctx, name, value, (error) => (reason = error))
    return opening.then((opened) => accepted(ctx, options, { value, opened, update }, reason))
  }
  const opening = ctx.open(name, value)
  // On Node there is nothing to wait for: see docs/speed.md.
  return isLater(opening)
    ? opening.then((opened) => accepted(ctx, options, { value, opened, update }))
    : accepted(ctx, options, { value, opened: opening, update })
}

function accepted(ctx: Context, options: Made, { value, opened, update }: Opened, reason?: unknown): Awaitable<Session | null> {
  if (!opened) {
    ctx.logger.error(unopened(reason))
    clear(ctx)
    return null
  }
  const { [claimName]: known, iat } = opened as JWT & { [claimName]?: Claim }
  const claim = typeof known?.id === 'string' ? known : claimOf(opened, value)
  const validity = isLater(claim) ? claim.then((named) => stillValid(ctx, options, opened, named)) : stillValid(ctx, options, opened, claim)
  // Dropping an old secret must sign nobody out.
  const due = ctx.canSetCookies && (update !== undefined || opened[outdatedKey as never] === true || age(ctx, iat) >= options.updateAge)
  if (
    isLater(claim) ||
    validity !== true ||
    due ||
    update ||
    ctx.has('hook', 'jwt') ||
    ctx.has('hook', 'session') ||
    ctx.has('on', 'session')
  )
    return shown(ctx, options, { opened, claim, validity, due, update })
  return { user: personOf(ctx, opened), expires: endOf(ctx, options, { token: opened, claim }).toISOString() }
}

async function shown(ctx: Context, options: Made, { opened, claim: named, validity, due, update }: Asking): Promise<Session | null> {
  // Neither hooks nor events see the claim, and none of them can change it.
  const { [claimName]: _claim, ...token } = opened as JWT & { [claimName]?: Claim }
  const claim = isLater(named) ? await named : named
  if (!(isLater(validity) ? await validity : validity)) {
    clear(ctx)
    return null
  }
  // A role that changed is in the token from the next update on.
  if (update && token.sub && ctx.store?.shownFields.length && ctx.store.supports('getUser')) {
    const user = await ctx.store.getUser(token.sub)
    if (user) show(ctx.store.shownFields, user, token)
  }
  // Hosts change the token in place, so what it was is kept as text.
  const asked = update !== undefined || ctx.has('hook', 'jwt')
  const before = asked ? JSON.stringify(token) : ''
  const answer = asked ? await ctx.ask('jwt', { token, ...(update && { trigger: 'update', session: update.data }) }) : token
  if (answer === null) {
    clear(ctx)
    return null
  }
  const renews = due || (ctx.canSetCookies && asked && JSON.stringify(answer) !== before)
  // What this process believes may be seconds old: it must not make a new token of one that was revoked elsewhere.
  if (renews && options.revocations) {
    await options.revocations.sync()
    if (endedBy(options.revocations, ctx.settings.namespace, token, claim)) {
      clear(ctx)
      return null
    }
  }
  const expires = renews ? expiry(ctx, options, claim) : endOf(ctx, options, { token, claim })

  const plain: Session = { user: personOf(ctx, answer), expires: expires.toISOString() }
  const session = ctx.has('hook', 'session')
    ? await ctx.ask('session', { session: plain, token: answer, ...(update && { newSession: update.data, trigger: 'update' }) })
    : plain
  // The hooks took time, and the person may have signed out meanwhile.
  if (renews && !(await stillValid(ctx, options, token, claim))) return (clear(ctx), null)
  if (renews) {
    await write(ctx, options, { token: answer, claim })
    if (options.lists) await (await others()).extend(ctx, options, claim)
  }
  // Every check is told, one that the host answers with nobody too (row 156).
  if (ctx.has('on', 'session')) await ctx.emit('session', { session: session as Session, token: answer })
  return session
}

/** The token of this browser when it counts, without any trace in log or cookies. */
async function current(ctx: Context, options: Made): Promise<Held | null> {
  const value = cookieOf(ctx)
  const opened = value === undefined ? null : await open(ctx, options, value)
  if (!opened) return null
  const { token, claim } = await held(opened, value ?? '')
  return (await stillValid(ctx, options, token, claim)) ? { token, claim } : null
}

async function held(opened: JWT, value: string): Promise<Held> {
  const { [claimName]: known, ...token } = opened as JWT & { [claimName]?: Claim }
  return { token, claim: typeof known?.id === 'string' ? known : await claimOf(token, value) }
}

function stillValid(ctx: Context, { absoluteMaxAge, revocable, revocations }: Made, token: JWT, claim: Claim): Awaitable<boolean> {
  if (!holds(ctx, claim)) return false
  const now = ctx.runtime.now()
  // A token from before the cap was configured has no beginning: it ends now rather than never.
  if (absoluteMaxAge !== undefined && (startless(token, claim) || !(now < claim.started + absoluteMaxAge * 1000))) return false
  if (!revocable) return true
  const { namespace } = ctx.settings
  if (!revocations || !revocations.complete || now >= revocations.freshUntil) return asked(ctx, revocations, token, claim)
  // Nobody waits for it. When it fails the copy ages, and then somebody does.
  if (now >= revocations.renewAt) revocations.sync().catch(() => {})
  return revocations.entries.size === 0 || !endedBy(revocations, namespace, token, claim)
}

function startless(token: JWT, { provider }: Claim): boolean {
  return provider === undefined && token['sst'] === undefined
}

/** The same where the copy is too old, or does not hold everything. */
async function asked(ctx: Context, revocations: Made['revocations'], token: JWT, claim: Claim): Promise<boolean> {
  if (!revocations) return !(await ctx.once.taken(`ended ${claim.id}`))
  const { namespace } = ctx.settings
  if (ctx.runtime.now() >= revocations.freshUntil) await revocations.sync()
  if (!revocations.complete && (await revocations.ended(`${namespace} id:${claim.id}`))) return false
  return !endedBy(revocations, namespace, token, claim)
}

function cookieOf(ctx: Context): string | undefined {
  return ctx.chunkedCookie(ctx.cookies.sessionToken.name)
}

function isLater<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null)?.then === 'function'
}

/** Seconds since the token was issued; a host's own token may not say. */
function age(ctx: Context, iat: number | undefined): number {
  return iat === undefined ? Infinity : ctx.runtime.now() / 1000 - iat
}
