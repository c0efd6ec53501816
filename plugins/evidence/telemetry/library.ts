/** `@opentelemetry/api`, an optional peer: loaded at the first request, because a meter of before the host's SDK was started measures nothing. */
import type { Counter, Histogram, Tracer } from '@opentelemetry/api'
import { AuthError, type LoggerInstance } from 'authkernel/kernel'

type Api = Pick<typeof import('@opentelemetry/api'), 'context' | 'metrics' | 'propagation' | 'SpanKind' | 'SpanStatusCode' | 'trace'>

/** What spans and measurements are made with. */
export interface Telemetry {
  readonly api: Api
  readonly tracer: Tracer
  readonly signIns: Counter
  readonly refreshes: Counter
  readonly limitsHit: Counter
  readonly refusals: Counter
  readonly storeFailures: Counter
  readonly requests: Histogram
  readonly sessionReads: Histogram
  readonly storeCalls: Histogram
}
export interface Loader {
  /** What has been loaded; undefined: nothing yet, or the package is not there. */
  now(): Telemetry | undefined
  load(): Promise<Telemetry | undefined>
}

/** Loads once. A missing package is logged once, and breaks no request. */
export function createLoader(lib: (() => Promise<unknown>) | undefined, logger: LoggerInstance): Loader {
  let loaded: Telemetry | undefined
  let loading: Promise<Telemetry | undefined> | undefined
  const load = async (): Promise<Telemetry | undefined> => {
    try {
      return (loaded = telemetryOf((await (lib ?? importApi)()) as Api))
    } catch (error) {
      logger.error(
        new AuthError(
          'telemetryPlugin could not load @opentelemetry/api and records nothing: npm install @opentelemetry/api, or remove the plugin.',
          { cause: { err: error instanceof Error ? error : new Error(String(error)) } },
        ),
      )
      return undefined
    }
  }
  return { now: () => loaded, load: () => (loading ??= load()) }
}

function importApi(): Promise<Api> {
  return import('@opentelemetry/api')
}

// Bounds in seconds, as the semantic conventions of OpenTelemetry advise for durations of HTTP requests and database calls.
const slow = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const fast = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]

function telemetryOf(api: Api): Telemetry {
  const meter = api.metrics.getMeter('authkernel')
  const counter = (name: string, description: string, unit: string): Counter => meter.createCounter(name, { description, unit })
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]): Histogram =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } })
  return {
    api,
    tracer: api.trace.getTracer('authkernel'),
    signIns: counter('authkernel.sign_ins', 'Sign-ins by provider and outcome.', '{sign_in}'),
    refreshes: counter('authkernel.token.refreshes', 'Refreshes of provider tokens by provider and outcome.', '{refresh}'),
    limitsHit: counter('authkernel.limits.hit', 'Attempts that a limit rejected.', '{attempt}'),
    refusals: counter('authkernel.requests.refused', 'Requests that were rejected before a flow began, by reason.', '{request}'),
    storeFailures: counter('authkernel.store.failures', 'Calls to the store that failed, by operation.', '{call}'),
    requests: seconds('authkernel.request.duration', 'Time of requests to routes.', slow),
    sessionReads: seconds('authkernel.session.read.duration', 'Time of session reads by outcome.', fast),
    storeCalls: seconds('db.client.operation.duration', 'Time of calls to the store.', fast),
  }
}
