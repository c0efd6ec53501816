/** Options of the strategy, and with their defaults. */
import type { ResolvedConfig, SessionOptions } from 'authkernel/kernel'

/** Lifetimes in seconds; each defaults to the option of the same name in `session`. */
export interface DatabaseSessionOptions extends Pick<SessionOptions, 'maxAge' | 'updateAge' | 'absoluteMaxAge' | 'generateSessionToken'> {}
export type Settled = { maxAge: number; updateAge: number } & Pick<SessionOptions, 'absoluteMaxAge' | 'generateSessionToken'>

export function settle({ session }: ResolvedConfig, options: DatabaseSessionOptions): Settled {
  return {
    maxAge: options.maxAge ?? session.maxAge,
    updateAge: options.updateAge ?? session.updateAge,
    absoluteMaxAge: options.absoluteMaxAge ?? session.absoluteMaxAge,
    generateSessionToken: options.generateSessionToken ?? session.generateSessionToken,
  }
}
