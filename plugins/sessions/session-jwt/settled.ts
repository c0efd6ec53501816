/** Options of the strategy, and with their defaults. Types only. */
import type { JWTOptions, SessionOptions } from 'authkernel/kernel'

/** Lifetimes in seconds; each defaults to the option of the same name in `session` and `jwt`. */
export interface JwtSessionOptions extends Pick<SessionOptions, 'maxAge' | 'updateAge' | 'absoluteMaxAge' | 'revocable'> {
  encode?: JWTOptions['encode'] | undefined
  decode?: JWTOptions['decode'] | undefined
  /** Steps forward only when the strategy is `jwt`; the preset's way of offering both. */
  fallback?: boolean | undefined
}
/** `maxAge` is that of the session: of the cookie and of what the client is told; `tokenAge` that of the token in it. */
export type Settled = { maxAge: number; tokenAge: number; updateAge: number } & Omit<JwtSessionOptions, 'maxAge' | 'updateAge' | 'fallback'>
