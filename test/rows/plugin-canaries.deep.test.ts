/** Every line of the log at debug level, every record of the audit log and every span of a run of each plugin's journey: no secret stands in any. */
import * as api from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { auditPlugin, type AuditRecord } from 'authkernel/plugins/audit'
import { telemetryPlugin } from 'authkernel/plugins/telemetry'
import { describe, expect, it } from 'vitest'
import { secret } from '../_setup.ts'
import { isFullTier } from '../_tier.ts'
import { leaks, secretsOf, shownSecrets } from './_canaries.ts'
import { createGround, type Ground, type Journey } from './_ground.ts'
import { journeys } from './_plugin-faults.ts'

interface Watched {
  ground: Ground
  records: AuditRecord[]
  spans: InMemorySpanExporter
}
async function watched(journey: Journey): Promise<Watched> {
  const records: AuditRecord[] = []
  const spans = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const trace = Object.assign(Object.create(api.trace) as typeof api.trace, { getTracer: (name: string) => provider.getTracer(name) })
  const ground = await createGround(journey, {
    config: { debug: true },
    plugins: [
      auditPlugin({ sink: (some) => void records.push(...some), pause: 1 }) as never,
      telemetryPlugin({ lib: () => Promise.resolve({ ...api, trace }), outgoing: true, incoming: true }) as never,
    ],
  })
  return { ground, records, spans }
}

/** What was written, by where. */
async function writtenBy({ ground, records, spans }: Watched): Promise<Record<string, unknown>> {
  await (ground.auth as unknown as { audit: { flush(): Promise<void> } }).audit.flush()
  const { debugs, warnings, errors } = ground.logger
  const ended = spans.getFinishedSpans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))
  return { debugs, warnings, errors, records: JSON.stringify(records), spans: ended }
}

async function expectNoLeak(watch: Watched): Promise<void> {
  const secrets = new Set([...secretsOf(watch.ground, [secret, 's'.repeat(32)]), ...(await shownSecrets(watch.ground))])
  expect(secrets.size).toBeGreaterThan(5)
  const found = Object.entries(await writtenBy(watch)).flatMap(([where, written]) =>
    leaks(written, secrets).map((value) => `${where}: ${value}`),
  )
  expect(found).toEqual([])
}

it('a leak would be found', () => {
  expect(leaks([new Error('token abcdef012345')], ['abcdef012345', 'other-secret'])).toEqual(['abcdef012345'])
  expect(leaks('the code 123456.', ['123456'])).toEqual(['123456'])
  expect(leaks('id a-123456', ['123456'])).toEqual([])
})

describe.each(journeys.map((journey) => [journey.name, journey] as const))('%s', (_name, journey) => {
  it('writes no secret', { timeout: 60_000 }, async () => {
    const watch = await watched(journey)
    watch.ground.arm(undefined)
    expect(await journey.run(watch.ground, 'first', () => {})).toBe(true)
    await expectNoLeak(watch)
    expect(watch.ground.logger.debugs.length).toBeGreaterThan(10)
    expect([watch.records.length > 0, watch.spans.getFinishedSpans().length > 5]).toEqual([true, true])
  })

  it('nor when a driver repeats what it was given', { timeout: 120_000 }, async () => {
    const { ground: first } = await watched(journey)
    first.arm(undefined)
    await journey.run(first, 'first', () => {})
    const count = first.calls.length
    // The gate takes a part of the calls, and fewer of journeys with slow hashes.
    const step = journey.slow ? Math.ceil(count / (isFullTier ? 12 : 3)) : isFullTier ? 1 : 9
    for (let at = 0; at < count; at += step) {
      const watch = await watched(journey)
      watch.ground.arm(at, (_real, _later, args) => {
        throw new Error(`insert failed, params: ${JSON.stringify(args)}`)
      })
      await journey.run(watch.ground, 'first', () => {}).catch(() => false)
      await expectNoLeak(watch)
    }
  })
})
