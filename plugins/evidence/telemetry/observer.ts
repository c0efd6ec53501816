/** Spans of requests, hooks, events and calls to other servers. */
import type { Attributes, Context as TraceContext, Span } from '@opentelemetry/api'
import type { AnyContext, Context, HookCall, Observer, Provider } from 'authkernel/kernel'
import type { Loader, Telemetry } from './library.ts'
import { inSpan, secondsSince } from './span.ts'

/** Which trace contexts cross the border. */
export interface Propagation {
  incoming: boolean
  outgoing: boolean
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])

/** What the kernel is observed with. `spans` keeps the span of each request, for events that know more. */
export function createObserver(loader: Loader, spans: WeakMap<object, Span>, { incoming, outgoing }: Propagation): Observer {
  return {
    async request(ctx, work) {
      const telemetry = await loader.load()
      if (!telemetry) return work()
      const { context } = telemetry.api
      const parent = incoming ? extractContext(telemetry, ctx.request) : context.active()
      const started = performance.now()
      const { method: asked } = ctx.request
      const method = methods.has(asked) ? asked : '_OTHER'
      const name = method === '_OTHER' ? 'HTTP' : method
      return inSpan(telemetry, { name, kind: 'SERVER', attributes: { 'http.request.method': method }, parent }, async (span) => {
        spans.set(ctx, span)
        let status = 500
        try {
          const response = await work()
          status = response.status
          return response
        } finally {
          recordRequest(telemetry, span, { ctx, method, name, status, started })
        }
      })
    },
    hook<T>({ kind, name }: HookCall, work: () => T): T {
      const telemetry = loader.now()
      if (!telemetry) return work()
      return inSpan(telemetry, { name: `${kind} ${name}`, kind: 'INTERNAL', attributes: { [`authkernel.${kind}`]: name } }, work)
    },
    async fetch(input, init, send) {
      const telemetry = loader.now()
      if (!telemetry) return send(input, init)
      const { api } = telemetry
      const url = new URL(input instanceof Request ? input.url : input)
      const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
      // Neither path nor query: they may hold a token or name a user.
      const attributes = {
        'http.request.method': method,
        'server.address': url.hostname,
        'server.port': Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
      }
      return inSpan(telemetry, { name: method, kind: 'CLIENT', attributes }, async (span, within) => {
        const response = await send(input, outgoing ? injectContext(telemetry, within, input, init) : init)
        span.setAttribute('http.response.status_code', response.status)
        if (response.status >= 400) {
          span.setAttribute('error.type', String(response.status))
          span.setStatus({ code: api.SpanStatusCode.ERROR })
        }
        return response
      })
    },
  }
}

function recordRequest(
  { api, requests }: Telemetry,
  span: Span,
  { ctx, method, name, status, started }: { ctx: Context; method: string; name: string; status: number; started: number },
): void {
  const route = ctx.route && (ctx.route.at === 'root' ? ctx.route.path : `${ctx.basePath === '/' ? '' : ctx.basePath}${ctx.route.path}`)
  const attributes = {
    'http.request.method': method,
    'http.response.status_code': status,
    ...(route !== undefined && { 'http.route': route }),
  }
  const { provider } = ctx.params
  if (route !== undefined) span.updateName(`${name} ${route}`)
  // Only of those that are known: a stranger may ask for any name.
  const known = provider === undefined ? undefined : ctx.peekProvider(provider)
  if (known) span.setAttributes({ 'authkernel.provider': known.id, ...providerName(ctx, known) })
  span.setAttributes(attributes)
  if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR })
  requests.record(secondsSince(started), attributes)
}

/** A connection that only the hook `provider` knows has an id that says nothing. On spans alone: as a label of metrics it would be one more for each company. */
export function providerName(ctx: AnyContext, { id, name }: Provider): Attributes {
  return ctx.app.providers.has(id) ? {} : { 'authkernel.provider.name': name }
}

function extractContext({ api: { context, propagation } }: Telemetry, { headers }: Request): TraceContext {
  return propagation.extract(context.active(), headers, {
    get: (from, name) => from.get(name) ?? undefined,
    keys: (from) => [...from.keys()],
  })
}

function injectContext({ api }: Telemetry, within: TraceContext, input: RequestInfo | URL, init: RequestInit | undefined): RequestInit {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
  api.propagation.inject(within, headers, { set: (to, name, value) => to.set(name, value) })
  return { ...init, headers }
}
