/** `authkernel provider <id>`: what to set, what to register, what to write, for a provider that comes with the package. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { packageRoot } from './package.ts'
import { type Report, table, UsageError, type Setting } from './report.ts'
import { originOf } from './snapshot.ts'

interface Preset {
  id: string
  name: string
  type: string
  issuer?: string
}

// Sources in the repository, built files for users.
const folders = ['plugins/providers/', 'dist/plugins/providers/'].map((folder) => new URL(folder, packageRoot()))
// The generated pages ship with the package.
const pages = new URL('docs/providers/', packageRoot())
const values: Record<string, readonly (readonly [suffix: string, option: string])[]> = {
  oidc: [
    ['ID', 'clientId'],
    ['SECRET', 'clientSecret'],
  ],
  oauth: [
    ['ID', 'clientId'],
    ['SECRET', 'clientSecret'],
  ],
  email: [['KEY', 'apiKey']],
}

/** Ids of all built-in providers. */
export function listProviders(): Report {
  const ids = providerIds()
  return { data: { providers: ids }, lines: [ids.join(', '), '', 'authkernel provider <id> tells how to set one up.'] }
}

/** Throws UsageError for an id that the package does not bring, with those that are alike. */
export async function describeProvider(id: string, origin: string | undefined, { paint }: Setting): Promise<Report> {
  const ids = providerIds()
  if (!ids.includes(id)) {
    const alike = ids.filter((other) => other.startsWith(id.slice(0, 2)))
    const hint = alike.length > 0 ? ` Do you mean ${alike.join(', ')}?` : ''
    throw new UsageError(`authkernel brings no provider "${id}".${hint} Any other one is written manually: see docs/providers/README.md.`)
  }
  const { default: preset } = (await import(`authkernel/providers/${id}`)) as { default: (options: object) => Preset }
  const page = readPage(id)
  const { id: own, name, type, issuer } = describePreset(preset, id)
  const prefix = `AUTH_${own.toUpperCase().replaceAll('-', '_')}`
  const variables = [...(values[type] ?? []), ...(type === 'oidc' && !issuer ? ([['ISSUER', 'issuer']] as const) : [])].map(
    ([suffix, option]) => ({ name: `${prefix}_${suffix}`, option }),
  )
  const callbackUrl = type === 'oidc' || type === 'oauth' ? `${originOf(origin, undefined).origin}/auth/callback/${own}` : undefined
  const call = id.replace(/[^a-z0-9]+(.)?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? '').replace(/^(\d)/, '_$1')
  const code = [`import ${call} from 'authkernel/providers/${id}'`, '', `export const auth = createAuth({ providers: [${call}()] })`]
  return {
    data: { id: own, name, type, variables, ...(callbackUrl && { callbackUrl }), code: code.join('\n'), ...(page && { page }) },
    lines: [
      `${paint.strong(name)} ${paint.faint(type)}`,
      ...(callbackUrl ? ['', 'Callback URL to register:', `  ${callbackUrl}`] : []),
      ...(variables.length > 0
        ? ['', 'Environment:', ...table(variables.map((variable) => [`  ${variable.name}=`, paint.faint(variable.option)]))]
        : []),
      '',
      ...code.map((line) => (line === '' ? '' : `  ${line}`)),
      ...(page ? ['', ...page.slice(page.indexOf('## ')).trimEnd().split('\n')] : []),
    ],
  }
}

/** What a preset says of itself; one that cannot be made without its options is known by its page. */
function describePreset(preset: (options: object) => Preset, id: string): Preset {
  try {
    return preset({})
  } catch {
    return { id, name: id, type: /^OpenID Connect/m.test(readPage(id) ?? '') ? 'oidc' : 'oauth' }
  }
}

function readPage(id: string): string | undefined {
  const page = new URL(`${id}.md`, pages)
  return existsSync(page) ? readFileSync(page, 'utf8') : undefined
}

/** Ids of the presets that come with the package. */
export function providerIds(): string[] {
  for (const folder of folders) {
    try {
      return readdirSync(folder)
        .filter((file) => /\.(?:mjs|ts)$/.test(file) && !file.startsWith('_') && !file.endsWith('.d.mts'))
        .map((file) => file.replace(/\.(?:mjs|ts)$/, ''))
        .sort()
    } catch {
      continue
    }
  }
  return []
}
