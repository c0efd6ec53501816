/** Telemetry: spans and metrics through the SDK of OpenTelemetry, with exporters in memory. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as api from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { type AuthConfig, createAuth } from 'authkernel'
import type { Kernel } from 'authkernel/kernel'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { telemetryPlugin, type TelemetryOptions } from 'authkernel/plugins/telemetry'
import nodemailer from 'authkernel/providers/nodemailer'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const spanExporter = new InMemorySpanExporter()
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.DELTA)
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 1_000_000 })],
})

// What `@opentelemetry/context-async-hooks` does.
class Contexts implements api.ContextManager {
  private readonly storage = new AsyncLocalStorage<api.Context>()
  active(): api.Context {
    return this.storage.getStore() ?? api.ROOT_CONTEXT
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: api.Context,
    run: F,
    self?: ThisParameterType<F>,
    ...args: A
  ) {
    return this.storage.run(context, () => run.apply(self, args))
  }
  bind<T>(_context: api.Context, target: T): T {
    return target
  }
  enable(): this {
    return this
  }
  disable(): this {
    return this
  }
}
// The header of W3C Trace Context.
const propagator: api.TextMapPropagator = {
  inject(context, carrier, setter) {
    const span = api.trace.getSpanContext(context)
    if (span) setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`)
  },
  extract(context, carrier, getter) {
    const [, traceId, spanId] = String(getter.get(carrier, 'traceparent') ?? '').split('-')
    return traceId && spanId ? api.trace.setSpanContext(context, { traceId, spanId, traceFlags: 1, isRemote: true }) : context
  },
  fields: () => ['traceparent'],
}
beforeAll(() => {
  api.context.setGlobalContextManager(new Contexts())
  api.propagation.setGlobalPropagator(propagator)
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spanExporter)] }))
  api.metrics.setGlobalMeterProvider(meterProvider)
})
beforeEach(async () => {
  await meterProvider.forceFlush()
  spanExporter.reset()
  metricExporter.reset()
})
afterAll(async () => {
  await meterProvider.shutdown()
  for (const part of [api.context, api.propagation, api.trace, api.metrics]) part.disable()
})

const named = (name: string): ReadableSpan => {
  const span = spanExporter.getFinishedSpans().find((one) => one.name === name)
  if (!span) {
    const names = spanExporter.getFinishedSpans().map((one) => one.name)
    throw new Error(`no span "${name}" among ${names.join(', ')}`)
  }
  return span
}
/** Values of a metric by their attributes: a count, or how often something was measured. */
async function metric(name: string): Promise<{ value: number; attributes: api.Attributes }[]> {
  await meterProvider.forceFlush()
  const metrics = metricExporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  return metrics
    .filter(({ descriptor }) => descriptor.name === name)
    .flatMap(({ dataPoints }) => dataPoints as { value: number | { count: number }; attributes: api.Attributes }[])
    .map(({ value, attributes }) => ({ value: typeof value === 'number' ? value : value.count, attributes }))
}

const person = { email: 'ada.canary@example.com', password: 'canary-password', name: 'Ada Canary' }
const authorize = ({ password }: Record<string, unknown>) =>
  password === person.password ? { id: 'canary-id', email: person.email, name: person.name } : null

function createHost(options: TelemetryOptions = {}, config: AuthConfig = {}) {
  const adapter = memoryAdapter()
  const mails: string[] = []
  const settings = baseConfig({
    adapter,
    session: { strategy: 'jwt' },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', credentials: { email: {}, password: {} }, authorize } as never,
      nodemailer({ server: 'smtp://127.0.0.1:9', from: 'a@b.example' }),
    ],
    ...config,
  })
  const auth = createAuth(settings).use(mailPlugin()).use(telemetryPlugin(options))
  return { auth, adapter, settings, mails, browser: new Client(auth) }
}
const signIn = (browser: Client, password = person.password): Promise<Response> =>
  browser.post('/callback/credentials', { email: person.email, password })

describe('telemetryPlugin', () => {
  it('makes spans of request, hooks, events and store calls, each below the one it ran in', async () => {
    const { auth, browser, adapter } = createHost()
    auth.hook('signIn', () => true)
    const user = await adapter.createUser!({ id: '1', email: 'x@example.com', emailVerified: null })
    auth.hook('session', async ({ session, ctx }) => {
      await ctx.store?.getUser(user.id)
      return session
    })
    await signIn(browser)
    const request = named('POST /auth/callback/:provider')
    expect(request.kind).toBe(api.SpanKind.SERVER)
    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/auth/callback/:provider',
      'http.response.status_code': 302,
      'authkernel.provider': 'credentials',
      'authkernel.outcome': 'success',
    })
    expect(named('hook signIn').parentSpanContext?.spanId).toBe(request.spanContext().spanId)

    await browser.get('/session')
    const read = named('getUser')
    expect(read.kind).toBe(api.SpanKind.CLIENT)
    expect(read.attributes).toEqual({ 'db.system.name': 'other_sql', 'db.operation.name': 'getUser' })
    expect(read.parentSpanContext?.spanId).toBe(named('hook session').spanContext().spanId)
    expect(named('hook session').parentSpanContext?.spanId).toBe(named('GET /auth/session').spanContext().spanId)
  })

  it('counts sign-ins by provider and outcome, and invents no provider', async () => {
    const { auth, browser } = createHost()
    await signIn(browser)
    await signIn(new Client(auth), 'wrong')
    await new Client(auth).get('/callback/ada-canary-any-name?code=1')
    expect(await metric('authkernel.sign_ins')).toEqual([
      { value: 1, attributes: { 'authkernel.provider': 'credentials', 'authkernel.outcome': 'success' } },
      {
        value: 1,
        attributes: { 'authkernel.provider': 'credentials', 'authkernel.outcome': 'failure', 'error.type': 'CredentialsSignin' },
      },
      expect.objectContaining({ attributes: expect.objectContaining({ 'authkernel.provider': '_OTHER' }) as never }),
    ])
  })

  it('measures requests and session reads', async () => {
    const { auth, browser } = createHost()
    expect(await auth.session(new Request('http://localhost:3000/'))).toBeNull()
    await signIn(browser)
    await browser.get('/session')
    const reads = await metric('authkernel.session.read.duration')
    const outcomes = Object.fromEntries(reads.map(({ attributes, value }) => [attributes['authkernel.outcome'], value]))
    expect(outcomes['found']).toBe(1)
    expect(outcomes['none']).toBeGreaterThanOrEqual(1)
    expect(await metric('authkernel.request.duration')).toContainEqual({
      value: 1,
      attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200, 'http.route': '/auth/session' },
    })
  })

  it('tells refused requests and attempts beyond a limit', async () => {
    const { auth } = createHost({}, { throttle: { credentials: { max: 1, seconds: 600 } } as never })
    for (let i = 0; i < 4; i++) await signIn(new Client(auth), 'wrong')
    expect((await metric('authkernel.limits.hit'))[0]?.value).toBeGreaterThanOrEqual(1)
    await auth.handler(new Request('http://localhost:3000/auth/signout', { method: 'POST' }))
    expect(await metric('authkernel.requests.refused')).toContainEqual({ value: 1, attributes: { 'authkernel.reason': 'MissingCSRF' } })
  })

  it('counts failures of the store, by operation and type', async () => {
    const { browser, adapter } = createHost()
    adapter.getUserByEmail = () => Promise.reject(new Error('connect postgres://user:canary@db'))
    await browser.post('/signin/nodemailer', { email: person.email })
    expect(await metric('authkernel.store.failures')).toContainEqual({
      value: 1,
      attributes: { 'db.operation.name': 'getUserByEmail', 'error.type': 'AdapterError' },
    })
    expect(named('getUserByEmail').status).toEqual({ code: api.SpanStatusCode.ERROR })
  })

  it('sees mails, and calls to providers, to whom the trace is handed only by option', async () => {
    const sent: Headers[] = []
    const fetch = ((_input: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers))
      return Promise.resolve(new Response('no', { status: 503 }))
    }) as typeof globalThis.fetch
    for (const outgoing of [false, true]) {
      const config = baseConfig()
      const { auth, browser } = createHost({ outgoing }, { runtime: { ...config.runtime, fetch } })
      auth.use(oidcPlugin({ id: 'acme', issuer: 'https://op.example', clientId: 'app', clientSecret: 'secret' }))
      await browser.post('/signin/acme')
    }
    const { auth, mails } = createHost()
    let kernel: Kernel | undefined
    auth.use({ name: 'newsletter', setup: (own) => void (kernel = own) })
    await auth.handler(new Request('http://localhost:3000/auth/providers'))
    const transport = { from: 'a@b.example', send: ({ to }: { to: string }) => void mails.push(to) }
    await kernel!.job({ job: 'news' }, (ctx) =>
      ctx
        .service('mail')
        .send(ctx, person.email, 'email.link', { url: 'https://x.example/canary', duration: { seconds: 60 } }, { transport }),
    )
    expect(mails).toEqual([person.email])
    expect(named('mail email.link').attributes).toEqual({ 'authkernel.mail.template': 'email.link' })
    const call = named('GET')
    expect(call.kind).toBe(api.SpanKind.CLIENT)
    expect(call.attributes).toEqual({
      'http.request.method': 'GET',
      'server.address': 'op.example',
      'server.port': 443,
      'http.response.status_code': 503,
      'error.type': '503',
    })
    expect(sent.map((headers) => headers.has('traceparent'))).toEqual([false, true])
  })

  it('goes on with a trace of the request only by option', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const ask = async (options: TelemetryOptions): Promise<string> => {
      spanExporter.reset()
      const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
      await createHost(options).auth.handler(new Request('http://localhost:3000/auth/providers', { headers }))
      return named('GET /auth/providers').spanContext().traceId
    }
    expect(await ask({})).not.toBe(traceId)
    expect(await ask({ incoming: true })).toBe(traceId)
  })

  it('keeps nothing of a person and no secret in spans and metrics', async () => {
    const { auth, browser } = createHost()
    auth.hook('signIn', () => {
      throw new Error(`${person.email} is not welcome`)
    })
    await signIn(browser)
    await browser.post('/signin/nodemailer?callbackUrl=/canary', { email: person.email })
    await browser.get('/callback/nodemailer?token=canary-token&email=ada.canary%40example.com')
    await meterProvider.forceFlush()
    const spans = spanExporter.getFinishedSpans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))
    expect(spans.length).toBeGreaterThan(5)
    const all = JSON.stringify([spans, metricExporter.getMetrics().map(({ scopeMetrics }) => scopeMetrics)])
    expect(all).not.toMatch(/canary|ada@|localhost:3000/i)
  })

  it('says once that the package is missing, and breaks nothing', async () => {
    const { settings, browser } = createHost({ lib: () => Promise.reject(new Error('Cannot find package')) })
    await signIn(browser)
    expect((await (await browser.get('/session')).json()) as object).toMatchObject({ user: { email: person.email } })
    expect(settings.logger.errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('npm install @opentelemetry/api') as never,
    ])
    expect(spanExporter.getFinishedSpans()).toEqual([])
  })

  it('reaches a collector over OTLP/HTTP, and a collector that is away breaks no request', async () => {
    const received: string[] = []
    const collector = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        received.push(body)
        response.setHeader('content-type', 'application/json').end('{}')
      })
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url, timeoutMillis: 500 }))],
    })
    const trace = Object.assign(Object.create(api.trace) as typeof api.trace, { getTracer: (name: string) => provider.getTracer(name) })
    const { browser } = createHost({ lib: () => Promise.resolve({ ...api, trace }) })
    await signIn(browser)
    await provider.forceFlush()
    expect(received.join('\n')).toContain('"POST /auth/callback/:provider"')
    expect(received.join('\n')).not.toMatch(/canary/i)
    collector.closeAllConnections()
    await new Promise((resolve) => collector.close(resolve))
    expect((await browser.get('/session')).status).toBe(200)
    await provider.shutdown().catch(() => {})
  })
})
