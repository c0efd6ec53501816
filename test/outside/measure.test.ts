/** The plugins of this folder are written as a stranger would: public imports, no detours, and shorter than they had to be for version 0.1.0. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const folder = new URL('plugins/', import.meta.url)
const sources = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]))
/** Letters of each plugin, blanks left out, when version 0.1.0 was all there was; what several of them shared is not counted. */
const before: Readonly<Record<string, number>> = {
  '01-second-factor.ts': 5796,
  '02-step-up.ts': 5854,
  '03-tenants.ts': 3848,
  '04-access-token.ts': 7714,
  '05-logout.ts': 8047,
  '06-rate-limit.ts': 3515,
  '07-audit.ts': 4411,
  '08-redis-session.ts': 6106,
  '09-saml.ts': 8634,
  '10-api-keys.ts': 3603,
  '11-maintenance.ts': 1863,
  '12-captcha.ts': 4902,
  '13-impersonation.ts': 4368,
  '14-invite.ts': 4737,
}

describe.each(Object.keys(before))('%s', (name) => {
  const source = sources.get(name) ?? ''
  const own = [...source.matchAll(/from '\.\/(_[\w-]+\.ts)'/g)].map(([, file]) => sources.get(file!) ?? '')
  const text = [source, ...own].join('\n')

  it('is shorter', () => {
    expect(text.replace(/\s/g, '').length).toBeGreaterThan(500)
    expect(text.replace(/\s/g, '').length).toBeLessThan(before[name]!)
  })

  it('imports the kernel and one library at most', () => {
    const imports = [...text.matchAll(/from '([^'.][^']*)'/g)].map(([, module]) => module)
    expect(imports.filter((module) => module !== 'authkernel/kernel').length).toBeLessThanOrEqual(1)
  })

  it('takes no detour', () => {
    expect(text).not.toMatch(
      /AsyncLocalStorage|Object\.create|node:|response\.text\(\)|new Request\(|\.doors|url\.pathname|new URL\(import/,
    )
  })
})

it('all fourteen are here', () => {
  expect([...sources.keys()].filter((name) => !name.startsWith('_')).sort()).toEqual(Object.keys(before))
})
