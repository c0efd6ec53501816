/** The presets as data: complete, plain, alone, and honest about what is missing. */
import { readdirSync, readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { createAuth, type Provider } from 'authkernel'
import { providerPages } from '../../scripts/provider-docs.ts'
import { readSources, root } from '../_sources.ts'
import { baseConfig } from '../_setup.ts'
import { clientId, clientSecret } from './_expected.ts'
import { facts } from './_facts.ts'
import { samples } from './_samples.ts'

type Preset = (options?: object) => Provider & Record<string, unknown>

const ids = facts.map(({ id }) => id)
const load = async (id: string): Promise<{ default: Preset } & Record<string, unknown>> => import(`../../plugins/providers/${id}.ts`)
const source = (id: string): string => readFileSync(`${root}plugins/providers/${id}.ts`, 'utf8')

describe('row 209: built-in provider ids', () => {
  it('every preset has facts and samples, and every fact a preset', () => {
    const files = readdirSync(`${root}plugins/providers`).map((file) => file.replace(/\.ts$/, ''))
    const presets = files.filter((file) => /type: '(?:oauth|oidc)'|\.\.\.microsoftEntraId\(/.test(source(file)))
    expect(presets.sort()).toEqual([...ids].sort())
    expect(Object.keys(samples).sort()).toEqual([...ids].sort())
    expect(facts.filter(({ added }) => !added)).toHaveLength(93)
  })

  it.each(facts.map((fact) => [fact.id, fact] as const))('%s: id, name, type, both exports', async (id, fact) => {
    const module = await load(id)
    const preset = module.default({ clientId, clientSecret, ...samples[id]!.options })
    expect([preset.id, preset.name, preset.type]).toEqual([fact.id, fact.name, fact.type])
    expect(Object.values(module).filter((value) => value === module.default)).toHaveLength(2)
    expect(module.default.name).toMatch(/^[a-z][A-Za-z0-9]*$/)
    expect(module[module.default.name]).toBe(module.default)
  })

  it.each(ids)('%s: the checks and the way of authentication are those of the facts', async (id) => {
    const fact = facts.find((known) => known.id === id)!
    const preset = (await load(id)).default({ ...samples[id]!.options })
    expect(preset['checks'] ?? ['pkce']).toEqual(fact.effectiveChecks)
    // These two have an exchange of their own.
    if (['vk-id', 'azure-devops'].includes(id)) return
    const { token_endpoint_auth_method: method = 'client_secret_basic' } = (preset['client'] ?? {}) as Record<string, string>
    expect(method).toBe(fact.tokenEndpointAuth)
  })
})

describe('plain data', () => {
  it.each(ids)('%s: nothing says "undefined" when nothing is given', async (id) => {
    const { default: preset } = await load(id)
    if (id === 'netsuite') return expect(() => preset({})).toThrow('Provider "netsuite" needs the option accountID')
    expect(JSON.stringify(preset({}))).not.toMatch(/undefined|null"|NaN/)
  })

  it.each(ids)('%s: what the host gives is kept as it is, and wins', async (id) => {
    const given = Object.freeze({ clientId: 'x', name: 'Mine', checks: ['state'], ...samples[id]!.options })
    const preset = (await load(id)).default(given)
    expect(preset['options']).toBe(given)
    const auth = createAuth({ ...baseConfig(), providers: [{ ...preset, clientSecret: 's' } as Provider] })
    await auth.ready()
    const response = await auth.handler(new Request('https://app.example/auth/providers'))
    expect(await response.json()).toMatchObject({ [id]: { id, name: 'Mine' } })
  })

  it.each(facts.filter(({ requiredOptions }) => requiredOptions?.some((option) => option.startsWith('issuer'))).map(({ id }) => id))(
    '%s: a missing issuer is an error with a name, and AUTH_<ID>_ISSUER heals it',
    async (id) => {
      const { default: preset } = await load(id)
      const { issuer, ...rest } = (samples[id]!.options ?? {}) as { issuer?: string }
      if (issuer === undefined) return
      const make = (env: Record<string, string>) =>
        createAuth({ ...baseConfig(), env, providers: [preset({ clientId, clientSecret, ...rest })] })
      await expect(make({}).ready()).rejects.toThrow(new RegExp(`Provider "${id}".*issuer`))
      await make({ [`AUTH_${id.toUpperCase().replaceAll('-', '_')}_ISSUER`]: issuer }).ready()
    },
  )
})

it.each(['auth0', 'cognito', 'keycloak', 'okta', 'passage', 'battlenet', 'zitadel'])(
  '%s works uncalled when the environment has all that it needs',
  async (id) => {
    const { default: preset } = await load(id)
    const prefix = `AUTH_${id.toUpperCase()}_`
    const env = { [`${prefix}ID`]: clientId, [`${prefix}SECRET`]: clientSecret, [`${prefix}ISSUER`]: 'https://id.example' }
    const auth = createAuth({ ...baseConfig(), env, providers: [preset] })
    await auth.ready()
    expect(await (await auth.handler(new Request('https://app.example/auth/providers'))).json()).toMatchObject({ [id]: { id } })
  },
)

describe('buttons', () => {
  it.each(ids)('%s: a brand colour in full, an inline mark in one colour', async (id) => {
    const { style = {} } = (await load(id)).default({ ...samples[id]!.options }) as { style?: { brandColor?: string; logo?: string } }
    expect(style.brandColor ?? '#000000').toMatch(/^#[0-9a-f]{6}$/)
    expect(style.brandColor).not.toBe('#ffffff')
    if (style.logo === undefined) return
    expect(style.logo).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="[MmLlHhVvCcSsQqTtAaZz0-9 ,.e-]+"\/><\/svg>$/,
    )
  })

  it('most brands have a mark', async () => {
    const logos = await Promise.all(
      ids.map(async (id) => (await load(id)).default({ ...samples[id]!.options })['style'] as { logo?: string } | undefined),
    )
    expect(logos.filter((style) => style?.logo).length).toBeGreaterThan(55)
  })
})

describe('files', () => {
  const sources = readSources('plugins/providers').filter(({ path }) => ids.includes(path.split('/').pop()!.replace('.ts', '')))

  it('import types of authkernel/kernel alone, or the preset of which they are a variant', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ specifier, type }) =>
            (!type || specifier !== 'authkernel/kernel') && !(path.endsWith('azure-ad.ts') && specifier === './microsoft-entra-id.ts'),
        )
        .map(() => path),
    )
    expect(wrong).toEqual([])
  })

  it.each(['google', 'github', 'apple', 'microsoft-entra-id'])('%s pulls in nothing but itself', async (id) => {
    const { metafile } = await build({
      entryPoints: [`${root}plugins/providers/${id}.ts`],
      bundle: true,
      write: false,
      metafile: true,
      logLevel: 'silent',
    })
    expect(Object.keys(metafile.inputs)).toHaveLength(1)
  })

  it('say who makes them, where to register and where it is documented', () => {
    for (const { path, text } of sources) {
      expect(text, path).toMatch(/\/\*\*\n \* Sign-in with .*Register: /)
      expect(text, path).toMatch(/@see https:\/\//)
    }
  })

  it('dead and closed services are deprecated, with what comes after them', () => {
    const gone = facts.filter(({ status }) => /dead$|deprecated/.test(status?.state ?? '')).map(({ id }) => id)
    expect(gone.filter((id) => !/@deprecated \w/.test(source(id)))).toEqual([])
    expect(gone).toContain('passage')
  })

  it('have a page each, made from them (npm run provider-docs)', async () => {
    const pages = await providerPages()
    expect(Object.keys(pages).sort()).toEqual(['README.md', ...ids.map((id) => `${id}.md`)].sort())
    const stale = Object.entries(pages).filter(([name, text]) => readFileSync(`${root}docs/providers/${name}`, 'utf8') !== text)
    expect(stale.map(([name]) => name)).toEqual([])
  })
})
