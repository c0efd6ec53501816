/** Tables of the docs against the sources: options, environment, errors, hooks, events, and the order in which they come. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuth } from 'authkernel'
import type { Provider } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'
import { describe, expect, it } from 'vitest'
import { en } from '../plugins/pages/pages/messages/en.ts'
import { errorTable } from '../src/errors/table.ts'
import { hookSpecs } from '../src/registry/hooks.ts'
import { baseConfig, Client } from './_setup.ts'
import { root } from './_sources.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
/** Cells of the table below a heading. */
function table(page: string, heading: string): string[][] {
  const text = read(page)
  const from = heading === '' ? 0 : text.indexOf(`\n${heading}\n`)
  expect(from, heading).toBeGreaterThanOrEqual(0)
  const lines = text.slice(from).split('\n')
  const start = lines.findIndex((line) => line.startsWith('|---'))
  const rows = lines.slice(start + 1)
  const end = rows.findIndex((line) => !line.startsWith('|'))
  return rows.slice(0, end === -1 ? undefined : end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
const names = (cell: string | undefined): string[] => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
/** Keys of an interface, as its source has them. */
function keysOf(file: string, name: string): string[] {
  const body = new RegExp(`export interface ${name} (?:extends [^{]+)?\\{\\n([\\s\\S]*?)\\n\\}`).exec(read(file))?.[1] ?? ''
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, key]) => key!)
}

describe('docs/options.md', () => {
  const listed = table('docs/options.md', '').flatMap(([option]) => names(option))

  it('has every option, and none that is not', () => {
    const keys = keysOf('src/contract/config.ts', 'AuthConfig')
    expect(keys.length).toBeGreaterThan(20)
    expect([...new Set(listed.map((option) => option.split('.')[0]))].sort()).toEqual([...keys].sort())
  })

  it.each([
    ['session', 'SessionOptions'],
    ['jwt', 'JWTOptions'],
  ])('has every field of %s', (option, type) => {
    const fields = keysOf('src/contract/config.ts', type).map((field) => `${option}.${field}`)
    expect(listed.filter((name) => name.startsWith(`${option}.`)).sort()).toEqual(fields.sort())
  })

  it('has every variable of the environment', () => {
    const read_ = new Set([...read('src/options/env.ts').matchAll(/'(AUTH_[A-Z_]+?)(?:_\d)?'/g)].map(([, name]) => name))
    const variables = table('docs/options.md', '## Environment').flatMap(([cell]) => names(cell))
    expect(variables).toEqual(expect.arrayContaining([...read_]))
  })
})

describe('docs/errors.md', () => {
  it('rows 269 to 272: is the table of the sources', () => {
    const rows = table('docs/errors.md', '').map(([type, when, page, visible, status, remedy]) => {
      expect(when, type).not.toBe('')
      expect(remedy, type).not.toBe('')
      return [names(type)[0], { page, ...(visible === 'yes' && { visible: true }), status: Number(status) }]
    })
    expect(Object.fromEntries(rows)).toEqual(errorTable)
    expect(rows).toHaveLength(Object.keys(errorTable).length)
  })
})

describe('docs/hooks.md', () => {
  const page = read('docs/hooks.md')
  const events = keysOf('src/contract/messages.ts', 'Events')

  it('has every hook with its verb, and every event', () => {
    const hooks = table('docs/hooks.md', '## Hooks').map(([name, verb, message, answer]) => {
      expect([message, answer], name).not.toContain('')
      const [kind, carry] = verb!.split(' ')
      return [names(name)[0], { verb: kind, ...(carry && { carry: names(carry)[0] }) }]
    })
    expect(Object.fromEntries(hooks)).toEqual(hookSpecs)
    expect(
      table('docs/hooks.md', '## Events')
        .map(([name]) => names(name)[0]!)
        .sort(),
    ).toEqual([...events].sort())
  })

  it.each(Object.keys(hookSpecs))('hook %s has an example', (name) => {
    const section = page.split(`\n### \`${name}\`\n`)[1]?.split('\n#')[0]
    expect(section).toContain(`auth.hook('${name}',`)
  })

  it.each(events)('event %s has an example', (name) => expect(page).toContain(`auth.on('${name}',`))

  const flows = table('docs/hooks.md', '## Order').map(([flow, steps]) => [flow, steps?.replaceAll(/[`]/g, '')] as const)
  it.each(['jwt', 'database'] as const)('the order of every flow is what happens, %s', async (strategy) => {
    const seen = await everyFlow(strategy)
    const expected = flows
      .filter(([flow]) => strategy === 'jwt' || !flow?.endsWith('credentials'))
      .map(([flow, steps]) => [flow, strategy === 'jwt' ? steps : steps?.replace('jwt, ', '')])
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(expected))
  })
})

describe('docs/plugins/pages.md', () => {
  it('D19: shows the headers of a sign-in page with a provider and a passkey, word for word', async () => {
    const shown = /```http\n([\s\S]*?)```/.exec(read('docs/plugins/pages.md'))?.[1]?.trim().split('\n')
    const auth = createAuth(
      baseConfig({
        origin: 'https://app.example',
        providers: [
          { id: 'acme', name: 'Acme', type: 'oidc', issuer: 'https://id.acme.example', clientId: 'a', clientSecret: 'b' },
          passkey(),
        ],
        adapter: memoryAdapter(),
        experimental: { enableWebAuthn: true },
      }),
    )
    const { headers } = await auth.handler(new Request('https://app.example/auth/signin'))
    const sent = [...headers]
      .filter(([name]) => name !== 'set-cookie')
      .map(([name, value]) => `${name}: ${value.replaceAll(/'nonce-[^']+'/g, "'nonce-<random>'")}`)
    expect(sent.sort()).toEqual(shown?.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase())).sort())
  })

  it('every key of the texts that is named there exists', () => {
    const named = names(read('docs/plugins/pages.md')).filter(
      (key) => /^(signIn|script|error\.default)\.?[\w.]*$/.test(key) && key.includes('.'),
    )
    expect(named.filter((key) => !(key in en))).toEqual([])
  })
})

/** Walks through every flow with a handler on everything; answers what was asked and told (in asterisks), without what always comes first. */
async function everyFlow(strategy: 'jwt' | 'database'): Promise<Map<string, string>> {
  const person = { id: '1', email: 'ann@hub.example' }
  const adapter = memoryAdapter()
  await adapter.createUser?.({ id: 'old', email: 'old@mail.example', emailVerified: null })
  let mailed = ''
  let allowed = true
  const oauth = (id: string): Provider => ({
    id,
    name: id,
    type: 'oauth',
    clientId: 'id',
    clientSecret: 'secret',
    authorization: 'https://hub.example/authorize',
    token: 'https://hub.example/token',
    userinfo: 'https://hub.example/user',
    profile: (profile) => profile as { id: string },
  })
  const config = baseConfig({
    adapter,
    session: { strategy, updateAge: 0 },
    providers: [
      oauth('hub'),
      oauth('lab'),
      { id: 'email', name: 'Email', type: 'email', sendVerificationRequest: ({ url }) => void (mailed = url) },
      {
        id: 'pin',
        name: 'PIN',
        type: 'credentials',
        credentials: { pin: {} },
        authorize: ({ pin }) => (pin === '4711' ? { id: 'u' } : null),
      },
    ],
  })
  const answer = (url: string): object => (url.endsWith('/token') ? { access_token: 'a', token_type: 'bearer' } : person)
  Object.assign(config.runtime, { fetch: (input: Request | URL | string) => Promise.resolve(Response.json(answer(String(input)))) })
  const auth = createAuth(config)
  let log: string[] = []
  for (const name of Object.keys(hookSpecs) as (keyof typeof hookSpecs & 'link')[])
    auth.hook(name, () => {
      log.push(name)
      return name === 'link' || ['access', 'createUser'].includes(name) || ((name as string) === 'signIn' && allowed)
        ? true
        : (undefined as never)
    })
  for (const name of keysOf('src/contract/messages.ts', 'Events')) auth.on(name as 'signIn', () => log.push(`*${name}*`))

  const client = new Client(auth)
  const flows = new Map<string, string>()
  const walk = async (flow: string, work: () => Promise<Response>): Promise<Response> => {
    log = []
    const response = await work()
    expect(log.slice(0, 2), flow).toEqual(['settings', 'request'])
    expect(log.at(-1), flow).toBe('response')
    const steps = log.slice(2, -1).join(', ')
    expect(flows.get(flow) ?? steps, flow).toBe(steps)
    flows.set(flow, steps)
    return response
  }
  const post = async (path: string, fields: Record<string, string> = {}): Promise<() => Promise<Response>> => {
    const csrfToken = await client.csrfToken()
    return () => client.send(path, { method: 'POST', body: new URLSearchParams({ csrfToken, ...fields }) })
  }
  const callback = async (provider: string, flow: string): Promise<void> => {
    const who = (await client.session()) ? 'off to a provider, while signed in' : 'off to a provider'
    log.length = 0
    const away = await walk(`\`POST /signin/acme\`: ${who}`, await post(`/signin/${provider}`))
    const state = new URL(away.headers.get('location') ?? '').searchParams.get('state')
    await walk(flow, () => client.send(`/callback/${provider}?code=c&state=${state}`))
  }
  const mail = async (email: string, flow: string): Promise<void> => {
    await walk(`asking for a magic link${flow.endsWith('new user') ? ', a new user' : ''}`, await post('/signin/email', { email }))
    await walk(flow, () => client.send(mailed))
  }
  const leave = async (): Promise<Response> => walk('signing out', await post('/signout'))

  await walk('sign-in page, `GET /providers`', () => client.send('/signin'))
  await walk('sign-in page, `GET /providers`', () => client.send('/providers'))
  await callback('hub', 'callback, a new user')
  await walk('reading the session', () => client.send('/session'))
  const csrfToken = await client.csrfToken()
  const body = JSON.stringify({ csrfToken, data: {} })
  const headers = { 'content-type': 'application/json' }
  await walk('updating the session', () => client.send('/session', { method: 'POST', headers, body }))
  await callback('hub', 'callback, a known user')
  Object.assign(person, { id: '2', email: 'ann@lab.example' })
  await callback('lab', 'callback, while signed in: one more account')
  await leave()
  await mail('new@mail.example', 'magic link, a new user')
  await leave()
  await mail('old@mail.example', 'magic link, first email verification')
  await leave()
  allowed = false
  await callback('lab', 'callback, rejected or failed')
  allowed = true
  if (strategy === 'database') return flows
  await walk('wrong credentials', await post('/callback/pin', { pin: '1' }))
  await walk('right credentials', await post('/callback/pin', { pin: '4711' }))
  return flows
}
