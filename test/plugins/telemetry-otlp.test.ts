/** Metrics through OpenTelemetry's own exporter over HTTP: what a collector is sent is what the page of the plugin says. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import * as api from '@opentelemetry/api'
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { createAuth } from 'authkernel'
import type { Kernel } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { telemetryPlugin } from 'authkernel/plugins/telemetry'
import nodemailer from 'authkernel/providers/nodemailer'
import { expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

// The exporter has a copy of the SDK of its own, and with it other types.
const require = createRequire(import.meta.url)
const { OTLPMetricExporter } = require('@opentelemetry/exporter-metrics-otlp-http') as {
  OTLPMetricExporter: new (options: { url: string; timeoutMillis: number }) => PushMetricExporter
}

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: number | string }
}
interface Point {
  attributes: Attribute[]
  startTimeUnixNano: string
  timeUnixNano: string
  asDouble?: number
  asInt?: number | string
  count?: number | string
  sum?: number
  bucketCounts?: (number | string)[]
  explicitBounds?: number[]
}
/** A metric of an `ExportMetricsServiceRequest` as JSON. */
interface Metric {
  name: string
  unit: string
  description: string
  sum?: { dataPoints: Point[]; isMonotonic: boolean; aggregationTemporality: number }
  histogram?: { dataPoints: Point[]; aggregationTemporality: number }
}
interface ExportRequest {
  resourceMetrics: { scopeMetrics: { scope: { name: string }; metrics: Metric[] }[] }[]
}

/** Rows of the table below `## Metrics`. */
function documented(): { name: string; kind: string; unit: string; attributes: string[] }[] {
  const page = readFileSync(new URL('../../docs/plugins/telemetry.md', import.meta.url), 'utf8')
  const section = page.split('\n## ').find((part) => part.startsWith('Metrics'))!
  return section.split('\n').flatMap((line) => {
    const [, name, kind, unit, attributes = ''] = /^\| `([\w.]+)` \| (\w+) \| `([^`]+)`[^|]* \| (.*) \|$/.exec(line) ?? []
    const keys = [...attributes.matchAll(/`((?:authkernel|http|db|error)\.[\w.]+)`/g)].map((match) => match[1]!)
    return name && kind && unit ? [{ name, kind, unit, attributes: keys }] : []
  })
}

async function collect(): Promise<{ url: string; received: { path: string; type: string; body: string }[]; close(): Promise<unknown> }> {
  const received: { path: string; type: string; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      received.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', body })
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/metrics`, received, close }
}

it('every metric of the page reaches a collector over OTLP/HTTP, with its kind, unit and attributes, and nothing personal', async () => {
  const collector = await collect()
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: collector.url, timeoutMillis: 5_000 }),
    exportIntervalMillis: 1_000_000,
  })
  const provider = new MeterProvider({ readers: [reader] })
  const metrics = Object.assign(Object.create(api.metrics) as typeof api.metrics, { getMeter: (name: string) => provider.getMeter(name) })
  const adapter = memoryAdapter()
  const config = baseConfig({
    adapter,
    session: { strategy: 'jwt' },
    throttle: { credentials: { max: 2, seconds: 600 } } as never,
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        authorize: ({ password }: Record<string, unknown>) =>
          password === 'canary-password' ? { id: 'canary-id', email: 'ada.canary@example.com' } : null,
      } as never,
      nodemailer({ server: 'smtp://127.0.0.1:9', from: 'a@b.example' }),
    ],
  })
  let inside: Kernel | undefined
  const auth = createAuth(config)
    .use({
      name: 'provider-tokens',
      setup(kernel) {
        inside = kernel
        kernel.records('canary', { fields: { code: { type: 'text' } } } as never)
        kernel.declareEvent('tokensRefreshed' as never, 'tokensExpired' as never)
      },
    })
    .use(telemetryPlugin({ lib: () => Promise.resolve({ ...api, metrics }) }))
  try {
    const browser = new Client(auth)
    await browser.post('/callback/credentials', { email: 'ada.canary@example.com', password: 'canary-password' })
    await browser.get('/session')
    await new Client(auth).get('/session')
    for (let i = 0; i < 4; i++) await new Client(auth).post('/callback/credentials', { email: 'ada.canary@example.com', password: 'wrong' })
    await auth.handler(new Request('http://localhost:3000/auth/signout', { method: 'POST' }))
    const ctx = await inside!.contextOf(new Request('http://localhost:3000/'))
    await (ctx.emit as (name: string, message: object) => Promise<void>)('tokensRefreshed', { provider: 'orbit' })
    await ctx.records('canary' as never).get('x' as never)
    adapter.getUserByEmail = () => Promise.reject(new Error('connect postgres://user:canary@db'))
    await browser.post('/signin/nodemailer', { email: 'ada.canary@example.com' })
    await provider.forceFlush()

    const [request] = collector.received
    expect([request?.path, request?.type]).toEqual(['/v1/metrics', 'application/json'])
    const scopes = (JSON.parse(request!.body) as ExportRequest).resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics)
    expect(scopes.map(({ scope }) => scope.name)).toEqual(['authkernel'])
    const sent = scopes.flatMap((scope) => scope.metrics)
    const rows = documented()
    expect(rows.length).toBeGreaterThanOrEqual(8)
    expect(sent.map(({ name }) => name).toSorted()).toEqual(rows.map(({ name }) => name).toSorted())
    for (const { name, kind, unit, attributes } of rows) {
      const { sum, histogram, ...metric } = sent.find((one) => one.name === name)!
      expect([name, metric.unit, metric.description !== '']).toEqual([name, unit, true])
      const points = (kind === 'counter' ? sum : histogram)?.dataPoints ?? []
      expect([name, points.length > 0, sum?.isMonotonic ?? kind]).toEqual([name, true, kind === 'counter' ? true : 'histogram'])
      for (const point of points) {
        const keys = point.attributes.map(({ key }) => key)
        expect([name, keys.filter((key) => !attributes.includes(key))]).toEqual([name, []])
        if (kind === 'counter') expect(Number(point.asDouble ?? point.asInt)).toBeGreaterThan(0)
        else {
          // Seconds: a test takes less than a minute, in milliseconds it would be more.
          expect([name, point.explicitBounds!.length > 5, point.sum! < 60 * Number(point.count)]).toEqual([name, true, true])
          expect(point.bucketCounts!.reduce<number>((all, each) => all + Number(each), 0)).toBe(Number(point.count))
        }
      }
      // Each attribute of the page occurs.
      const seen = new Set(points.flatMap((point) => point.attributes.map(({ key }) => key)))
      expect([name, attributes.filter((key) => !seen.has(key))]).toEqual([name, []])
    }
    const signIns = sent.find(({ name }) => name === 'authkernel.sign_ins')!.sum!.dataPoints
    const outcomes = signIns.map(({ attributes }) => attributes.find(({ key }) => key === 'authkernel.outcome')?.value.stringValue)
    expect(outcomes).toEqual(expect.arrayContaining(['success', 'failure']))
    expect(request!.body).not.toMatch(/canary@|canary-id|canary-password|postgres:/i)
  } finally {
    await provider.shutdown()
    await collector.close()
  }
})

it('a collector that is away breaks no request', async () => {
  const collector = await collect()
  await collector.close()
  const exporter = new OTLPMetricExporter({ url: collector.url, timeoutMillis: 200 })
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const metrics = Object.assign(Object.create(api.metrics) as typeof api.metrics, { getMeter: (name: string) => provider.getMeter(name) })
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt' } })).use(
    telemetryPlugin({ lib: () => Promise.resolve({ ...api, metrics }) }),
  )
  const flushed = provider.forceFlush().then(
    () => 'done',
    () => 'failed',
  )
  expect((await new Client(auth).get('/session')).status).toBe(200)
  await flushed
  expect((await new Client(auth).get('/session')).status).toBe(200)
  await provider.shutdown().catch(() => {})
})
