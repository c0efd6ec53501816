/** The same configuration, requests, provider and store on @auth/core and here; every difference is announced by DECISIONS.md. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { root } from '../_sources.ts'
import { sampleCases } from '../_tier.ts'
import { compare, compareNames, type Flow } from './_flow.ts'
import { answerFlows } from './_flows-answers.ts'
import { configFlows } from './_flows-config.ts'
import { cornerFlows } from './_flows-corners.ts'
import { credentialsFlows } from './_flows-credentials.ts'
import { emailFlows } from './_flows-email.ts'
import { lifetimeFlows } from './_flows-lifetime.ts'
import { oauthFlows } from './_flows-oauth.ts'
import { pageFlows } from './_flows-pages.ts'
import { providerFlows } from './_flows-provider.ts'
import { routeFlows } from './_flows-routes.ts'
import { sessionFlows } from './_flows-session.ts'
import { webauthnFlows } from './_flows-webauthn.ts'
import { rules, used } from './_rules.ts'

const tables: Record<string, Flow[]> = {
  routes: routeFlows,
  oauth: oauthFlows,
  provider: providerFlows,
  answers: answerFlows,
  email: emailFlows,
  credentials: credentialsFlows,
  session: sessionFlows,
  lifetime: lifetimeFlows,
  config: configFlows,
  pages: pageFlows,
  corners: cornerFlows,
  webauthn: webauthnFlows,
}

for (const [area, flows] of Object.entries(tables)) {
  describe(area, () => {
    it.each(flows.map((flow) => [flow.name, flow] as const))('%s', async (_name, flow) => expect(await compare(flow)).toEqual([]))
  })
}

// Every fourth, and of these a third in the gate: names are in few places.
const some = Object.entries(tables).flatMap(([area, flows]) =>
  flows.filter((_, i) => i % 4 === 0).map((flow) => [`${area}: ${flow.name}`, flow] as const),
)

describe('row 77: without authjsCompatPlugin names, keys and hashes change and nothing else', () => {
  it.each(sampleCases(some, 8))('%s', async (_name, flow) => expect(await compareNames(flow)).toEqual([]))
})

describe('the list of differences', () => {
  it('holds nothing that no flow needs', () => {
    expect(rules.filter((rule) => !used.has(rule)).map(({ hook, what }) => `${hook}: ${what}`)).toEqual([])
  })

  it('is told to users', () => {
    const page = readFileSync(`${root}docs/differences.md`, 'utf8')
    const decided = Object.values(tables).flatMap((flows) => flows.flatMap((flow) => Object.values(flow.decided ?? {})))
    const numbers = new Set([...rules, ...decided].map(({ hook }) => hook).filter((hook) => /^D\d+$/.test(hook)))
    expect([...numbers].filter((number) => !new RegExp(`\\b${number}\\b`).test(page))).toEqual([])
  })
})
