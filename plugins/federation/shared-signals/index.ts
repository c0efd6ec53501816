/** A receiver of security events that providers push: Shared Signals Framework 1.0, CAEP 1.0, RISC 1.0 (RFC 8417, RFC 8935). */
import { type Plugin } from 'authkernel/kernel'
import { sessionRecord } from 'authkernel/kernel/strategies'
import { checkProviders, resolveOptions, type SharedSignalsOptions } from './options.ts'
import { addRoutes } from './routes.ts'
import type { Signal } from './signals.ts'
import { subjectTable } from './tables.ts'
import { keepSubject } from './users.ts'

export { RevocationRefused, SignalRefused, type SignalErrorCode } from './errors.ts'
export type { RevokingSignal, SharedSignalsOptions, SignalKind, SignalsOfProvider } from './options.ts'
export type { Signal } from './signals.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A provider sent a signal; told once. */
    signalReceived: Signal
  }
}

/** `POST /signals/:provider`. Throws AuthError for options of the wrong shape. */
export function sharedSignalsPlugin(options: SharedSignalsOptions): Plugin<void> {
  const senders = resolveOptions(options)
  const globally = [...senders.values()].some((sender) => sender.revokesGlobally)
  const revokes = globally || [...senders.values()].some((sender) => sender.revokes.size > 0)
  return {
    name: 'shared-signals',
    requires: ['oauth', ...(revokes ? (['session:revoke:attribute'] as const) : [])],
    setup(kernel) {
      kernel.declareEvent('signalReceived')
      kernel.records('providerSubject', subjectTable, { optional: true })
      kernel.records('sessionRecord', sessionRecord, { optional: true })
      kernel.on('signedIn', ({ login, ctx }) => (senders.get(login.account.provider)?.keeps ? keepSubject(ctx, login) : undefined))
      kernel.decorate('oauth', (_inner, view) => {
        checkProviders(senders, view)
        for (const sender of senders.values()) sender.keeps = view.records.has('providerSubject')
        if (globally) view.config.logger.warn('experimental-global-token-revocation')
        return {}
      })
      addRoutes(kernel, senders, globally)
    },
  }
}
