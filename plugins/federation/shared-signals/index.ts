/** Security events that providers push, and those that this server sends: Shared Signals Framework 1.0, CAEP 1.0, RISC 1.0 (RFC 8417, RFC 8935, RFC 8936). */
import type { Kernel, Plugin } from 'authkernel/kernel'
import { sessionRecord } from 'authkernel/kernel/strategies'
import { createApi, type SharedSignalsApi } from './methods.ts'
import { checkProviders, resolveOptions, resolveTransmitter, type SharedSignalsOptions, type TransmitterOptions } from './options.ts'
import { addRoutes } from './routes.ts'
import type { Signal } from './signals.ts'
import { subjectTable } from './tables.ts'
import { addTransmitter } from './transmitter.ts'
import { keepSubject } from './users.ts'

export { RevocationRefused, SignalRefused, type SignalErrorCode } from './errors.ts'
export type { EventType } from './event-types.ts'
export type { NewStream, SharedSignalsApi, SignalStream } from './methods.ts'
export type { RevokingSignal, SharedSignalsOptions, SignalKind, SignalsOfProvider, TransmitterOptions } from './options.ts'
export type { NewReceiver, SignalReceiver } from './receivers.ts'
export type { StreamStatus } from './streams.ts'
export type { SignalEventRow, SignalReceiverRow, SignalStreamRow, SignalSubjectRow } from './tables.ts'
export type { Signal } from './signals.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A provider sent a signal; told once. */
    signalReceived: Signal
  }
}

/** `POST /signals/:provider`, and with `transmitter` the routes below `/ssf` and `auth.sharedSignals`. Throws AuthError for options of the wrong shape. */
export function sharedSignalsPlugin(options: SharedSignalsOptions & { transmitter: TransmitterOptions }): Plugin<SharedSignalsApi>
export function sharedSignalsPlugin(options: SharedSignalsOptions): Plugin<void>
export function sharedSignalsPlugin(options: SharedSignalsOptions): Plugin<SharedSignalsApi | void> {
  const senders = resolveOptions(options)
  const transmitter = resolveTransmitter(options)
  const globally = [...senders.values()].some((sender) => sender.revokesGlobally)
  const revokes = globally || [...senders.values()].some((sender) => sender.revokes.size > 0)
  return {
    name: 'shared-signals',
    requires: [
      ...(senders.size > 0 ? (['oauth'] as const) : []),
      ...(revokes ? (['session:revoke:attribute'] as const) : []),
      ...(transmitter ? (['records', 'organizations', 'signingKeys', 'limit'] as const) : []),
    ],
    setup(kernel) {
      if (senders.size > 0) addReceiver(kernel, senders, globally)
      if (!transmitter) return undefined
      addTransmitter(kernel, transmitter)
      return { sharedSignals: createApi(kernel) }
    },
  }
}

function addReceiver(kernel: Kernel, senders: ReturnType<typeof resolveOptions>, globally: boolean): void {
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
}
