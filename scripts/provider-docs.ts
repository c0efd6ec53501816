/**
 * Writes docs/providers/: a page per identity provider, made from its preset, and the list of all of them.
 * `--check` writes nothing and fails when a page is not what the presets say.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Field, providerIds, type ProviderSource, readProvider } from './provider-source.ts'

const folder = fileURLToPath(new URL('../docs/providers/', import.meta.url))

interface Endpoint {
  url?: string
  params?: Record<string, unknown>
  method?: string
  headers?: Record<string, string>
  body?: object
  token?: string | { query: string }
  path?: string
  unwrap?: string
  request?: unknown
}
interface Preset {
  id: string
  name: string
  type: 'oauth' | 'oidc'
  issuer?: string
  wellKnown?: string
  authorization?: string | Endpoint
  token?: string | Endpoint
  userinfo?: string | Endpoint
  scope?: string
  checks?: string[]
  idToken?: boolean
  client?: Record<string, string>
  style?: { logo?: string }
}

/** Pages by name: the markdown of docs/providers/. */
export async function providerPages(): Promise<Record<string, string>> {
  const pages: Record<string, string> = {}
  const rows: string[] = []
  for (const id of providerIds()) {
    const { preset, factory } = await load(id)
    const source = readProvider(id)
    pages[`${id}.md`] = page(id, preset, factory, source)
    rows.push(`| [${preset.name}](${id}.md) | \`${id}\` | ${protocol(preset)} | ${source.deprecated ? 'deprecated' : ''} |`)
  }
  return { 'README.md': index(rows), ...pages }
}

/** One page, for the command line too. */
export async function providerPage(id: string): Promise<string> {
  const { preset, factory } = await load(id)
  return page(id, preset, factory, readProvider(id))
}

async function load(id: string): Promise<{ preset: Preset; factory: string }> {
  const { default: make } = (await import(`../plugins/providers/${id}.ts`)) as { default: (options: object) => Preset }
  // NetSuite builds host names from it and cannot do without.
  return { preset: make(id === 'netsuite' ? { accountID: '<account>' } : {}), factory: make.name }
}

function page(id: string, preset: Preset, factory: string, source: ProviderSource): string {
  const needed = source.options.filter(({ name }) => source.ways[0]?.includes(name))
  const variables = ['ID', 'SECRET', ...(needed.some(({ name }) => name === 'issuer') ? ['ISSUER'] : [])]
  const prefix = `AUTH_${id.toUpperCase().replaceAll('-', '_')}`
  const given = needed.map((option) => `${option.name}: ${example(option)}`)
  return [
    `# ${preset.name}`,
    '',
    ...(source.deprecated ? [`> **Deprecated:** ${source.deprecated}.`, ''] : []),
    `Let users sign in with ${preset.name}.`,
    '',
    '```ts',
    "import { createAuth } from 'authkernel'",
    `import ${factory} from 'authkernel/providers/${id}'`,
    '',
    `export const auth = createAuth({ providers: [${factory}(${given.length > 0 ? `{ ${given.join(', ')} }` : ''})] })`,
    '```',
    '',
    '## Set up',
    '',
    `- Where to register: ${source.register}`,
    `- Callback URL: \`https://your-app.example/auth/callback/${id}\``,
    `- Set ${variables.map((name) => `\`${prefix}_${name}\``).join(', ')} in the environment, or the options ${variables.map((name) => `\`${optionNames[name]}\``).join(', ')}`,
    '',
    ...(source.options.length > 0 ? ['## Options', '', ...needs(source.ways), ...fields('option', source.options), ''] : []),
    '## What is sent',
    '',
    `The protocol is ${protocol(preset)}, and the provider has the id \`${id}\`. [Documentation of the provider](${source.see})`,
    '',
    ...requests(preset),
    '',
    '## Profile',
    '',
    `\`${source.profileName}\`. ${source.profileText}`,
    '',
    ...fields('field', source.profile),
    '',
    ...mapping(source),
    '',
    ...(source.notes.length > 0 || preset.style?.logo ? ['## Notes', '', ...notes(preset, source), ''] : []),
  ].join('\n')
}

const optionNames: Record<string, string> = { ID: 'clientId', SECRET: 'clientSecret', ISSUER: 'issuer' }

function protocol({ type }: Preset): string {
  return type === 'oidc' ? 'OpenID Connect' : 'OAuth 2.0'
}

function needs(ways: string[][]): string[] {
  const sets = ways.map((names) => names.map(code).join(' and '))
  return sets.length === 0 ? [] : [`Needed: ${sets.join(', or ')}.`, '']
}

function example({ name, text }: Field): string {
  const written = /`([^`<]+)`/.exec(text)?.[1]
  return `'${written ?? (name === 'issuer' ? 'https://idp.example' : 'https://your-app.example')}'`
}

function fields(title: string, list: Field[]): string[] {
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  // Outside code a "<" would start markup.
  const prose = (text: string): string => text.replace(/`[^`]*`|</g, (part) => (part === '<' ? '&lt;' : part))
  const rows = list.map(({ name, type, text }) => `| \`${name}\` | \`${cell(type)}\` | ${prose(cell(text))} |`)
  return [`| ${title} | type | |`, '|---|---|---|', ...rows]
}

function requests(preset: Preset): string[] {
  const authorization = endpoint(preset.authorization)
  const { scope = preset.scope ?? 'openid profile email', ...params } = (authorization.params ?? {}) as Record<string, unknown>
  const token = endpoint(preset.token)
  const checks = preset.checks ?? ['pkce']
  const method = preset.client?.['token_endpoint_auth_method'] ?? 'client_secret_basic'
  const others = Object.entries(params).map(
    ([name, value]) => `\`${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}\``,
  )
  const discovered = `from the discovery document (${code(preset.wellKnown ?? `${preset.issuer ?? '{issuer}'}/.well-known/openid-configuration`.replace('//.well', '/.well'))})`
  return [
    '| | |',
    '|---|---|',
    `| authorization | ${authorization.url ? code(authorization.url) : discovered} |`,
    `| scope | ${scope === '' ? 'none' : code(String(scope))} |`,
    ...(others.length > 0 ? [`| other parameters | ${others.join(', ')} |`] : []),
    `| checks | ${[...new Set([...checks, 'state'])].join(', ')} |`,
    `| token | ${token.url ? code(token.url) : discovered}, ${token.request ? 'by a custom request' : code(method)} |`,
    `| profile | ${profileSource(preset)} |`,
  ]
}

function profileSource(preset: Preset): string {
  if (preset.type === 'oidc' && preset.idToken !== false) return 'claims of the ID token'
  const { url, method = 'GET', params, headers, body, path, token, unwrap } = endpoint(preset.userinfo)
  if (preset.type === 'oidc') return 'userinfo endpoint of the discovery document'
  if (!url) return 'the option `userinfo`'
  const query = new URLSearchParams(Object.entries(params ?? {}).map(([name, value]) => [name, String(value)])).toString()
  const tail = token === 'path' ? '/{tokens.access_token}' : path ? `/${path}` : ''
  const more = [
    typeof token === 'object' && `access token as \`${token.query}\``,
    headers && Object.keys(headers).length > 0 && `headers ${Object.keys(headers).map(code).join(', ')}`,
    body && `body ${code(JSON.stringify(body))}`,
    unwrap && `member \`${unwrap}\``,
  ].filter(Boolean)
  return [`\`${method} ${url}${tail}${query && `?${decodeURIComponent(query)}`}\``, ...more].join(', ')
}

function mapping({ mapping: own, emailVerified }: ProviderSource): string[] {
  const rows = own ?? [
    ['id', 'profile.sub ?? profile.id'],
    ['name', 'profile.name ?? profile.nickname ?? profile.preferred_username'],
    ['email', 'profile.email'],
    ['image', 'profile.picture'],
  ]
  return [
    '| user | from |',
    '|---|---|',
    ...rows.map(([member, expression]) => `| \`${member}\` | \`${expression.replaceAll('`', "'").replaceAll('|', '\\|')}\` |`),
    ...(emailVerified ? [`| verified address | \`${emailVerified.replaceAll('|', '\\|')}\` |`] : []),
  ]
}

function notes(preset: Preset, source: ProviderSource): string[] {
  const mark = 'The mark of the button is from Simple Icons (CC0-1.0). Names and marks of the provider belong to the provider.'
  return [...source.notes, ...(preset.style?.logo ? [mark] : [])].map((note) => `- ${note}`)
}

function endpoint(value: string | Endpoint | undefined): Endpoint {
  return typeof value === 'string' ? { url: value } : (value ?? {})
}

function code(text: string): string {
  return `\`${text}\``
}

function index(rows: string[]): string {
  return [
    '# Identity providers',
    '',
    'Let users sign in with one of these services. Import its preset, and set its id and secret in the environment:',
    '',
    '```ts',
    "import { createAuth } from 'authkernel'",
    "import github from 'authkernel/providers/github'",
    "import google from 'authkernel/providers/google'",
    '',
    '// AUTH_SECRET, AUTH_GITHUB_ID, AUTH_GITHUB_SECRET, AUTH_GOOGLE_ID, AUTH_GOOGLE_SECRET come from the environment.',
    "export const auth = createAuth({ providers: [github(), google({ authorization: { params: { prompt: 'select_account' } } })] })",
    '```',
    '',
    'A preset is data: endpoints, scopes, and how a profile becomes a user. Your options replace its values. Objects are merged. To change the user, pass `profile(profile, tokens)`. The type of',
    'the profile is exported beside the preset. If your service is not in the list, write the same data yourself: see [OpenID Connect](../plugins/oidc.md) and [OAuth 2.0](../plugins/oauth.md).',
    '',
    'Each preset is a separate module, so an app loads only those that it imports. `npm run provider-docs` makes these pages from the presets.',
    '',
    '## Differences from Auth.js',
    '',
    '- Plain OAuth providers that declare no scope get none; Auth.js sends them `openid profile email`.',
    '- The text "undefined" is never sent or stored. Names contain only the parts that the profile has. An account without an id is refused.',
    '- Account ids that providers send as numbers are stored as text, as their type says.',
    '- `wellKnown` and `token.request` are used; Azure DevOps, Asgardeo, OneLogin, Frontegg and FusionAuth need them.',
    '- Entra ID tokens are checked against the issuer of their tenant, and `allowedTenants` restricts them.',
    "- Apple's client secret is made from the key.",
    '- Bungie sends its API key and the membership id; Todoist uses the current endpoint; Figma requests the current scope;',
    '  EVE Online pictures come from the current server; Reddit, Mail.ru and ClickUp users have their picture.',
    '- Logos on buttons are inline, or there is none. Nothing is loaded from other hosts. The logos come from Simple Icons (CC0-1.0).',
    '',
    '## All of them',
    '',
    '| provider | id | protocol | |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const pages = await providerPages()
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(pages)) {
    const file = folder + name
    if (!process.argv.includes('--check')) writeFileSync(file, text)
    else if (!existsSync(file) || readFileSync(file, 'utf8') !== text)
      throw new Error(`docs/providers/${name} is out of date: run \`npm run provider-docs\``)
  }
  console.log(`${Object.keys(pages).length} pages`)
}
