/** Sessions in an encrypted cookie: nothing is stored on the server (WIRE 9.12, D5, D37, D51). */
import { AuthError, type Plugin, type ResolvedConfig } from 'authkernel/kernel'
import type { JwtSessionOptions, Settled } from './settled.ts'
import { createStrategy } from './strategy.ts'

export type { JwtSessionOptions } from './settled.ts'

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
