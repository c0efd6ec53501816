/** The dashboard for Grafana shows each metric that there is, by labels that it has, and no other. */
import { readFileSync } from 'node:fs'
import * as api from '@opentelemetry/api'
import { createAuth } from 'authkernel'
import { telemetryPlugin } from 'authkernel/plugins/telemetry'
import { expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'
import { root } from '../_sources.ts'

/** Names of the metrics, as an exporter for Prometheus writes them. */
async function metrics(): Promise<{ name: string; series: string[] }[]> {
  const made: { name: string; series: string[] }[] = []
  const noop = api.createNoopMeter()
  const plain = (name: string): string => name.replaceAll('.', '_')
  const meter = Object.assign(Object.create(noop) as api.Meter, {
    createCounter(name: string) {
      made.push({ name, series: [`${plain(name)}_total`] })
      return noop.createCounter(name)
    },
    createHistogram(name: string, { unit }: api.MetricOptions) {
      const full = `${plain(name)}${unit === 's' ? '_seconds' : ''}`
      made.push({ name, series: [`${full}_bucket`, `${full}_count`, `${full}_sum`] })
      return noop.createHistogram(name)
    },
  })
  const lib = { ...api, metrics: Object.assign(Object.create(api.metrics) as typeof api.metrics, { getMeter: () => meter }) }
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt' } })).use(telemetryPlugin({ lib: () => Promise.resolve(lib) }))
  await auth.handler(new Request('http://localhost:3000/auth/session'))
  return made
}

const dashboard = JSON.parse(readFileSync(`${root}docs/grafana-dashboard.json`, 'utf8')) as {
  panels: { title: string; targets: { expr: string }[] }[]
}
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
const shown = expressions.flatMap((expr) => [...expr.matchAll(/\b(?:authkernel|db)_\w+(?=[[{])/g)].map(([name]) => name))
const paper = readFileSync(`${root}docs/plugins/telemetry.md`, 'utf8').split('## Metrics')[1]!

it('each metric is shown, and what is shown is a metric', async () => {
  const all = await metrics()
  expect(all.length).toBeGreaterThan(7)
  const known = new Set(all.flatMap(({ series }) => series))
  expect(shown.filter((name) => !known.has(name))).toEqual([])
  expect(all.filter(({ series }) => !series.some((name) => shown.includes(name))).map(({ name }) => name)).toEqual([])
})

it('the paper lists the same metrics, with the labels that the dashboard asks for', async () => {
  const rows = new Map([...paper.matchAll(/^\| `([\w.]+)` \|[^|]*\| (.*) \|$/gm)].map(([, name, attributes]) => [name!, attributes!]))
  expect([...rows.keys()].sort()).toEqual((await metrics()).map(({ name }) => name).sort())
  const labels = new Set(
    [...rows.values()].flatMap((text) => [...text.matchAll(/`([\w.]+)`/g)].map(([, name]) => name!.replaceAll('.', '_'))),
  )
  const asked = expressions.flatMap((expr) => [
    ...[...expr.matchAll(/by \(([^)]+)\)/g)].flatMap(([, list]) => list!.split(/,\s*/)),
    ...[...expr.matchAll(/[{,](\w+)!?=/g)].map(([, name]) => name!),
  ])
  expect(asked.filter((label) => label !== 'le' && !labels.has(label))).toEqual([])
})
