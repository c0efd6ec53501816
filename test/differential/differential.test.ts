/** Issue 4.9: the same configuration, requests, provider and store on @auth/core and here; every difference is announced by DECISIONS.md. */
import { describe, expect, it } from 'vitest'
import { compare, type Flow } from './_flow.ts'
import { configFlows } from './_flows-config.ts'
import { credentialsFlows } from './_flows-credentials.ts'
import { emailFlows } from './_flows-email.ts'
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
  email: emailFlows,
  credentials: credentialsFlows,
  session: sessionFlows,
  config: configFlows,
  pages: pageFlows,
  webauthn: webauthnFlows,
}

for (const [area, flows] of Object.entries(tables)) {
  describe(area, () => {
    it.each(flows.map((flow) => [flow.name, flow] as const))('%s', async (_name, flow) => expect(await compare(flow)).toEqual([]))
  })
}

describe('the list of differences', () => {
  it('holds nothing that no flow needs', () => {
    expect(rules.filter((rule) => !used.has(rule)).map(({ decision, what }) => `${decision}: ${what}`)).toEqual([])
  })
})
