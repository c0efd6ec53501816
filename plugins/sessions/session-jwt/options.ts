/** Options of the strategy, and with their defaults. */
import type { JWTOptions, ResolvedConfig, Revocations, SessionAbility, SessionOptions } from 'authkernel/kernel'

/** Lifetimes in seconds; each defaults to the option of the same name in `session` and `jwt`. */
export interface JwtSessionOptions extends Pick<SessionOptions, 'maxAge' | 'updateAge' | 'absoluteMaxAge' | 'revocable'> {
  /** Makes the session token of a payload; default: `jwt.encode`, else encryption. */
  encode?: JWTOptions['encode'] | undefined
  /** Reads what `encode` made; default: `jwt.decode`, else decryption. */
  decode?: JWTOptions['decode'] | undefined
  /**
   * Seconds until every process rejects a revoked token; default 10, and half a second with scimPlugin. Each process reads one row of the service `records` in half of that time, while
   * sessions are read.
   */
  staleness?: number | undefined
}
/** `maxAge` is the one of the session: of the cookie and of what the client sees; `tokenAge` that of the token in it. */
export type JwtOptions = { maxAge: number; tokenAge: number; updateAge: number; staleness: number | undefined } & Omit<
  JwtSessionOptions,
  'maxAge' | 'updateAge' | 'staleness'
>

/** Options, and what a snapshot adds to them. */
export type JwtStrategy = JwtOptions & {
  revocations: Revocations | undefined
  /** Whether sessions are recorded, so that they can be listed. */
  lists: boolean
}

/** With the defaults of `session` and `jwt`. */
export function resolveOptions({ session, jwt }: ResolvedConfig, options: JwtSessionOptions): JwtOptions {
  return {
    maxAge: options.maxAge ?? session.maxAge,
    tokenAge: options.maxAge ?? jwt.maxAge ?? session.maxAge,
    updateAge: options.updateAge ?? session.updateAge,
    staleness: options.staleness,
    absoluteMaxAge: options.absoluteMaxAge ?? session.absoluteMaxAge,
    revocable: options.revocable ?? session.revocable,
    encode: options.encode ?? jwt.encode,
    decode: options.decode ?? jwt.decode,
  }
}

/** What can be done to sessions of other browsers. */
export function abilitiesOf({ revocable, revocations, lists }: JwtStrategy): ReadonlySet<SessionAbility> {
  const all: [SessionAbility, boolean][] = [
    ['attributes', true],
    ['kinds', true],
    ['revoke:id', revocable === true],
    ['revoke:user', revocations !== undefined],
    ['revoke:attribute', revocations !== undefined],
    ['list', lists],
  ]
  return new Set(all.filter(([, can]) => can).map(([ability]) => ability))
}
