/** A receiver of security events that providers push: Shared Signals Framework 1.0, CAEP 1.0, RISC 1.0 (RFC 8417, RFC 8935). */
import { type AuthError, type Context, HttpError, InvalidProvider, json, type Plugin, sessionRecord } from 'authkernel/kernel'
import { SignalRefused } from './errors.ts'
import { checkProviders, resolveOptions, type Sender, type SharedSignalsOptions } from './options.ts'
import { receive, type Signal } from './receive.ts'
import { keepSubject, subjectTable } from './user.ts'
import { revocationFailure, revokeGlobally } from './revocation.ts'

export { RevocationRefused, SignalRefused, type SignalErrorCode } from './errors.ts'
export type { RevokingSignal, SharedSignalsOptions, SignalKind, SignalsOfProvider } from './options.ts'
export type { Signal } from './receive.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A provider sent a signal; told once. */
    signalReceived: Signal
  }
}

const maxBytes = 65_536

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
      kernel.records('sessionRecord', sessionRecord as never, { optional: true })
      kernel.on('signedIn', ({ login, ctx }) => (senders.get(login.account.provider)?.keeps ? keepSubject(ctx, login) : undefined))
      kernel.decorate('oauth', (_inner, view) => {
        checkProviders(senders, view)
        for (const sender of senders.values()) sender.keeps = view.records.has('providerSubject')
        if (globally) view.config.logger.warn('experimental-global-token-revocation')
        return {}
      })
      if (globally)
        kernel.route({
          method: 'POST',
          path: '/global-token-revocation/:provider',
          csrf: 'bearer',
          body: { bytes: maxBytes },
          handler: (ctx) => revokeGlobally(ctx, senders),
          failure: (_ctx, error) => revocationFailure(error),
        })
      kernel.route({
        method: 'POST',
        path: '/signals/:provider',
        csrf: 'bearer',
        body: { bytes: maxBytes },
        handler: (ctx) => handle(ctx, senders),
        // The kernel looks the provider up first.
        failure: (_ctx, error) => (error instanceof InvalidProvider ? refusal(stranger()) : refusal(error)),
      })
    },
  }
}

async function handle(ctx: Context, senders: ReadonlyMap<string, Sender>): Promise<Response> {
  const { provider = '' } = ctx.params
  const sender = senders.get(provider)
  if (!sender) throw stranger()
  const { headers } = ctx.request
  if (sender.authorization !== undefined && !(await same(ctx, headers.get('authorization') ?? '', sender.authorization)))
    throw new SignalRefused('authentication_failed', 'The header `Authorization` is missing or wrong.')
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/secevent+jwt') throw new SignalRefused('invalid_request', 'The content type must be application/secevent+jwt.')
  await receive(ctx, provider, sender, await bodyOf(ctx))
  return new Response(null, { status: 202, headers: { 'Cache-Control': 'no-store' } })
}

function stranger(): SignalRefused {
  return new SignalRefused('access_denied', 'This provider may not send signals.')
}

/** What the sender did wrong is told; for everything else it should try again. */
function refusal(error: AuthError): Response {
  return error instanceof SignalRefused
    ? json({ err: error.code, description: error.message }, 400, { 'Content-Language': 'en' })
    : new Response(null, { status: 503, headers: { 'Retry-After': '60', 'Cache-Control': 'no-store' } })
}

async function bodyOf(ctx: Context): Promise<string> {
  try {
    return await ctx.text()
  } catch (error) {
    if (error instanceof HttpError) throw new SignalRefused('invalid_request', error.message)
    throw error
  }
}

// Keyed hashes: how long a comparison takes tells nothing.
async function same(ctx: Context, given: string, expected: string): Promise<boolean> {
  return (await ctx.digest('signals', given)) === (await ctx.digest('signals', expected))
}
