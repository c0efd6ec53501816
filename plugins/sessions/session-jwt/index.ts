/** Sessions in an encrypted cookie: nothing is stored on the server (D5, D37, D51). */
import {
  AuthError,
  type Awaitable,
  type Context,
  type Events,
  type JWT,
  type JWTOptions,
  JWTSessionError,
  type Plugin,
  randomUUID,
  type ResolvedConfig,
  type Session,
  type SessionOptions,
  type SessionStrategy,
  SignOutError,
  type User,
} from 'authkernel/kernel'

/** Lifetimes in seconds; each defaults to the option of the same name in `session` and `jwt`. */
export interface JwtSessionOptions extends Pick<SessionOptions, 'maxAge' | 'updateAge' | 'absoluteMaxAge' | 'revocable'> {
  encode?: JWTOptions['encode'] | undefined
  decode?: JWTOptions['decode'] | undefined
  /** Steps forward only when the strategy is `jwt`; the preset's way of offering both. */
  fallback?: boolean | undefined
}
/** `maxAge` is that of the session: of the cookie and of what the client is told; `tokenAge` that of the token in it. */
type Settled = { maxAge: number; tokenAge: number; updateAge: number } & Omit<JwtSessionOptions, 'maxAge' | 'updateAge' | 'fallback'>

/** Provides the service `session`. Refused at compile: `revocable` without a `once` that all processes share. */
export function jwtSessionPlugin(options: JwtSessionOptions = {}): Plugin {
  return {
    name: 'session-jwt',
    setup(kernel) {
      const strategy = createStrategy(settle(kernel.config, options))
      kernel.provide('session', (view) => {
        if (options.fallback && view.strategy !== 'jwt') return undefined
        if (strategy.revocable && !view.service('once')?.shared) {
          throw new AuthError(
            'Plugin "session-jwt": `session.revocable` needs a service "once" that all processes share (Redis or SQL). ' +
              'Give adapterPlugin one, or leave `revocable` off.',
          )
        }
        return strategy
      })
    },
  }
}

function settle({ session, jwt }: ResolvedConfig, options: JwtSessionOptions): Settled {
  return {
    maxAge: options.maxAge ?? session.maxAge,
    tokenAge: options.maxAge ?? jwt.maxAge ?? session.maxAge,
    updateAge: options.updateAge ?? session.updateAge,
    absoluteMaxAge: options.absoluteMaxAge ?? session.absoluteMaxAge,
    revocable: options.revocable ?? session.revocable,
    encode: options.encode ?? jwt.encode,
    decode: options.decode ?? jwt.decode,
  }
}

function createStrategy(options: Settled): SessionStrategy & { revocable: boolean } {
  return {
    revocable: options.revocable === true,
    read: (ctx) => access(ctx, options),
    update: (ctx, data) => access(ctx, options, { data }),

    async user(ctx) {
      const token = await current(ctx, options)
      if (!token?.sub) return null
      if (ctx.store?.supports('getUser')) return ctx.store.getUser(token.sub)
      return { id: token.sub, ...personOf(token) }
    },

    async subject(ctx) {
      const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
      return (value && (await open(ctx, options, value))?.sub) || null
    },

    async issue(ctx, login) {
      const { user, account, profile, isNewUser, trigger } = login
      const previous = login.session === 'keep' ? await current(ctx, options) : null
      const token: JWT = { name: user.name, email: user.email, picture: user.image, ...(user.id !== undefined && { sub: user.id }) } as JWT
      const changed = await ctx.ask('jwt', { token, user, account, ...(profile && { profile }), isNewUser, trigger })
      if (changed === null) {
        clear(ctx)
        return null
      }
      const kept = { ...changed, ...anchors(ctx, options, previous) }
      await write(ctx, options, kept)
      return { id: String(kept['sid'] ?? kept.sub ?? '') }
    },

    async end(ctx): Promise<Events['signOut'] | null> {
      const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
      if (value === undefined) return null
      clear(ctx)
      const token = await open(ctx, options, value)
      if (!token) {
        ctx.logger.error(
          new SignOutError('The session token of a sign-out could not be opened: it is expired, altered, or from another secret.'),
        )
        return null
      }
      if (options.revocable && typeof token['sid'] === 'string') await ctx.once.take(`ended ${token['sid']}`, options.tokenAge)
      return { token }
    },
  }
}

/** One access: the jwt and session hooks, and a new cookie when it is due. */
async function access(ctx: Context, options: Settled, update?: { data: unknown }): Promise<Session | null> {
  const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
  if (value === undefined) return null
  let reason: unknown
  const opening = open(ctx, options, value, (error) => (reason = error))
  // On Node there is nothing to wait for: see docs/speed.md.
  const opened = isLater(opening) ? await opening : opening
  if (!opened) {
    const message = 'The session token could not be opened: it is expired, altered, or from another secret.'
    ctx.logger.error(new JWTSessionError(message, reason instanceof Error ? reason : {}))
  }
  const validity = opened !== null && stillValid(ctx, options, opened)
  const token = (isLater(validity) ? await validity : validity) ? opened : null
  if (!token) {
    clear(ctx)
    return null
  }
  // Hosts change the token in place, so what it was is kept as text.
  const asked = update !== undefined || ctx.has('hook', 'jwt')
  const before = asked ? JSON.stringify(token) : ''
  const answer = asked ? await ctx.ask('jwt', { token, ...(update && { trigger: 'update', session: update.data }) }) : token
  if (answer === null) {
    clear(ctx)
    return null
  }
  const renews =
    ctx.canSetCookies && (update !== undefined || age(ctx, token) >= options.updateAge || (asked && JSON.stringify(answer) !== before))
  const next = renews ? { ...answer, ...anchors(ctx, options, token) } : answer
  const expires = renews ? expiry(ctx, options, next) : endOf(ctx, options, token)

  const plain: Session = { user: personOf(next), expires: expires.toISOString() }
  const session = ctx.has('hook', 'session')
    ? await ctx.ask('session', { session: plain, token: next, ...(update && { newSession: update.data, trigger: 'update' }) })
    : plain
  if (renews) await write(ctx, options, next)
  // Every check is told, one that the host answers with nobody too (row 156).
  if (ctx.has('on', 'session')) await ctx.emit('session', { session: session as Session, token: next })
  return session
}

/** The token of this browser when it counts, without any trace in log or cookies. */
async function current(ctx: Context, options: Settled): Promise<JWT | null> {
  const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
  const token = value === undefined ? null : await open(ctx, options, value)
  return token && (await stillValid(ctx, options, token)) ? token : null
}

function open(ctx: Context, { decode }: Settled, value: string, failed?: (error: unknown) => void): Awaitable<JWT | null> {
  const { name } = ctx.cookies.sessionToken
  return decode ? decodeWith(decode, ctx, name, value, failed) : ctx.open(name, value)
}

async function decodeWith(
  decode: NonNullable<Settled['decode']>,
  ctx: Context,
  salt: string,
  token: string,
  failed: ((error: unknown) => void) | undefined,
): Promise<JWT | null> {
  try {
    return await decode({ token, secret: secretOf(ctx), salt })
  } catch (error) {
    failed?.(error)
    return null
  }
}

async function write(ctx: Context, options: Settled, token: JWT): Promise<void> {
  const { name, options: attributes } = ctx.cookies.sessionToken
  const expires = expiry(ctx, options, token)
  const maxAge = Math.max(1, Math.round((expiry(ctx, options, token, options.tokenAge).getTime() - ctx.now.getTime()) / 1000))
  const value = options.encode
    ? await options.encode({ token, secret: secretOf(ctx), salt: name, maxAge })
    : await ctx.seal(name, token, maxAge)
  ctx.setChunkedCookie(name, value, { ...attributes, expires })
}

function clear(ctx: Context): void {
  const { name, options } = ctx.cookies.sessionToken
  ctx.deleteCookie(name, options)
}

/** Claims that outlive whatever the jwt callback returns: when the session began, and its id for revocation. */
function anchors(ctx: Context, { absoluteMaxAge, revocable }: Settled, previous: JWT | null): JWT {
  return {
    ...(absoluteMaxAge !== undefined && { sst: previous?.['sst'] ?? Math.floor(ctx.now.getTime() / 1000) }),
    ...(revocable && { sid: previous?.['sid'] ?? randomUUID(ctx.runtime) }),
  }
}

function stillValid(ctx: Context, { absoluteMaxAge, revocable }: Settled, token: JWT): Awaitable<boolean> {
  // A token from before the cap was configured has no beginning: it ends now rather than never.
  if (absoluteMaxAge !== undefined && !(ctx.now.getTime() < (Number(token['sst']) + absoluteMaxAge) * 1000)) return false
  return !revocable || notEnded(ctx, token)
}

async function notEnded(ctx: Context, token: JWT): Promise<boolean> {
  return !(await ctx.once.taken(`ended ${String(token['sid'])}`))
}

function isLater<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null)?.then === 'function'
}

function expiry(ctx: Context, { maxAge, absoluteMaxAge }: Settled, token: JWT, age = maxAge): Date {
  const idle = ctx.now.getTime() + age * 1000
  return new Date(absoluteMaxAge === undefined ? idle : Math.min(idle, (Number(token['sst']) + absoluteMaxAge) * 1000))
}

function endOf(ctx: Context, options: Settled, token: JWT): Date {
  if (options.tokenAge !== options.maxAge && token.iat !== undefined) return new Date((token.iat + options.maxAge) * 1000)
  return token.exp === undefined ? expiry(ctx, options, token) : new Date(token.exp * 1000)
}

/** Seconds since the token was issued; a host's own token may not say. */
function age(ctx: Context, token: JWT): number {
  return token.iat === undefined ? Infinity : ctx.now.getTime() / 1000 - token.iat
}

// What the token does not say is undefined, hence absent for clients, as with Auth.js; null stays null.
function personOf({ name, email, picture }: JWT): User {
  return { name, email, image: picture } as User
}

// As the host wrote it: its own encode and decode expect the option's shape.
function secretOf(ctx: Context): string | readonly string[] {
  const { secret } = ctx.settings
  return secret.length === 1 ? (secret[0] as string) : secret
}
