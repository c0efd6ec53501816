/** Spans and metrics by OpenTelemetry: how long what takes, and how much of it fails. No personal data. */
import type { Attributes, Span } from '@opentelemetry/api'
import { assertOptions, type AnyContext, type AuthError, type Kernel, type Plugin } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/provider-tokens'
import { createLoader, type Loader } from './library.ts'
import { createObserver, providerName } from './observer.ts'
import { decorateServices } from './services.ts'
import { errorType } from './span.ts'

/** Options of `telemetryPlugin`. */
export interface TelemetryOptions {
  /** `db.system.name` of spans of the store, `postgresql` for example; default `other_sql`. */
  system?: string
  /** Goes on with the trace that the headers of a request name; default false, because any user may send them. */
  incoming?: boolean
  /** Hands the trace context to providers in the headers of calls; default false. */
  outgoing?: boolean
  /** Loads `@opentelemetry/api`; default: `import('@opentelemetry/api')`. */
  lib?: () => Promise<unknown>
}

/** Records spans and metrics with the providers that the host has registered with `@opentelemetry/api`. */
export function telemetryPlugin(options: TelemetryOptions = {}): Plugin<void> {
  assertOptions('Plugin "telemetry"', options, { system: true, incoming: true, outgoing: true, lib: true })
  const { system = 'other_sql', incoming = false, outgoing = false, lib } = options
  return {
    name: 'telemetry',
    setup(kernel) {
      const loader = createLoader(lib, kernel.config.logger)
      const spans = new WeakMap<object, Span>()
      kernel.observe(createObserver(loader, spans, { incoming, outgoing }))
      decorateServices(kernel, loader, system)
      countEvents(kernel, loader, spans)
    },
  }
}

/** By name and not by `*`: an event that no other user hears gets no span. */
function countEvents(kernel: Kernel, loader: Loader, spans: WeakMap<object, Span>): void {
  const count = (which: 'signIns' | 'refreshes' | 'refusals', attributes: Attributes): void => loader.now()?.[which].add(1, attributes)
  const mark = (ctx: AnyContext, attributes: Attributes): void => void spans.get(ctx)?.setAttributes(attributes)
  kernel.on('signedIn', ({ login: { account, isNewUser }, ctx }) => {
    const facts = { 'authkernel.provider': account.provider, 'authkernel.outcome': 'success' }
    count('signIns', facts)
    const provider = ctx.peekProvider(account.provider)
    mark(ctx, { ...facts, ...(provider && providerName(ctx, provider)), 'authkernel.new_user': isNewUser === true })
  })
  kernel.on('signInFailed', ({ provider, account, error, ctx }) => {
    const facts = {
      'authkernel.provider': account?.provider ?? knownProvider(ctx, provider),
      'authkernel.outcome': spanStatus(error),
      'error.type': errorType(error),
    }
    count('signIns', facts)
    mark(ctx, facts)
  })
  kernel.on('refused', ({ reason, error, ctx }) => {
    count('refusals', { 'authkernel.reason': reason })
    mark(ctx, { 'authkernel.reason': reason, 'error.type': errorType(error) })
  })
  const countRefresh = (provider: string, outcome: string): void =>
    count('refreshes', { 'authkernel.provider': provider, 'authkernel.outcome': outcome })
  kernel.on('tokensRefreshed', ({ provider }) => countRefresh(provider, 'success'), { of: 'provider-tokens' })
  kernel.on('tokensExpired', ({ provider }) => countRefresh(provider, 'expired'), { of: 'provider-tokens' })
}

// What the user did, or what a server did: an alarm is for the second.
function spanStatus({ status }: AuthError): 'failure' | 'error' {
  return status >= 500 ? 'error' : 'failure'
}

function knownProvider(ctx: AnyContext, provider: string | undefined): string {
  return provider !== undefined && ctx.peekProvider(provider) ? provider : '_OTHER'
}
