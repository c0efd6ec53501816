/** Sessions in an encrypted cookie: nothing is stored on the server (D5, D37, D51). */
import { assertOptions, AuthError, lazily, lazyObject, type Plugin } from 'authkernel/kernel'
import { sessionRecord, strategyMethods } from 'authkernel/kernel/strategies'
import { revocationRecord } from './tables.ts'
import { createRevocations } from './revocations.ts'
import { abilitiesOf, type JwtSessionOptions, type JwtStrategy, resolveOptions } from './options.ts'

export type { JwtSessionOptions } from './options.ts'

const revocable = 'jwt with `session.revocable: true`'
const needsRecords = `${revocable} and the service "records" (an adapter of authkernel, or \`recordsPlugin(…)\`)`
const remedies = { list: needsRecords, 'revoke:id': revocable, 'revoke:user': needsRecords, 'revoke:attribute': needsRecords }

// Loaded by the first request that asks for a session.
const load = /* @__PURE__ */ lazily(() => import('./strategy.ts'))

/**
 * Registers the session strategy `jwt`. With `revocable` it provides the service `revocations` over records. Rejected at compile: `revocable` without
 * the service `records` and without a `once` that all processes share.
 */
export function jwtSessionPlugin(options: JwtSessionOptions = {}): Plugin {
  assertOptions('Plugin "session-jwt"', options, {
    maxAge: true,
    updateAge: true,
    absoluteMaxAge: true,
    revocable: true,
    encode: true,
    decode: true,
    staleness: true,
  })
  return {
    name: 'session-jwt',
    setup(kernel) {
      const resolved = resolveOptions(kernel.config, options)
      if (resolved.staleness !== undefined && !(resolved.staleness >= 0))
        throw new AuthError('Plugin "session-jwt": `staleness` must be 0 or more seconds.')
      if (resolved.revocable) {
        kernel.records('sessionRecord', sessionRecord, { optional: true })
        kernel.records('revocation', revocationRecord, { optional: true })
        kernel.provide('revocations', (view) => {
          const staleness = resolved.staleness ?? view.service('sessionFreshness')?.seconds ?? 10
          return view.records.has('revocation') ? createRevocations(kernel, view.shared, staleness) : undefined
        })
      }
      kernel.preload(async () => load())
      kernel.sessionStrategy(
        'jwt',
        (view) => {
          const revocations = resolved.revocable ? view.service('revocations') : undefined
          if (resolved.revocable && !revocations && !view.service('once')?.shared) {
            throw new AuthError(
              'Plugin "session-jwt": `session.revocable` needs the service "records" (an adapter of authkernel, or recordsPlugin), ' +
                'or for sign-out alone it needs a service "once" that all processes share (Redis or SQL). ' +
                'Give adapterPlugin one, or leave `revocable` off.',
            )
          }
          const strategy: JwtStrategy = { ...resolved, revocations, lists: revocations !== undefined && view.records.has('sessionRecord') }
          return lazyObject(strategyMethods, load, ({ createStrategy }) => createStrategy(strategy), { abilities: abilitiesOf(strategy) })
        },
        { suits: (view) => view.service('store') === undefined, remedies },
      )
    },
  }
}
