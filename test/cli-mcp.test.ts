/** `authkernel mcp`, asked by the official client of the Model Context Protocol. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from './_sources.ts'

let folder: string
let client: Client

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'authkernel-mcp-'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', name: 'app' }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(root, 'node_modules/jiti'), join(folder, 'node_modules/jiti'), 'junction')
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { baseUrl: root, paths: compilerOptions.paths } }))
  writeFileSync(
    join(folder, 'auth.ts'),
    `import { createAuth } from 'authkernel'\nconsole.log('{ "a module": "that prints" }')\nexport const auth = createAuth({ secret: 'a secret of at least thirty-two characters', origin: 'https://app.example' })\n`,
  )
  client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [join(root, 'test/_cli.mjs'), 'mcp'], cwd: folder }))
}, 60_000)
afterAll(async () => {
  await client?.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Answer {
  isError?: boolean
  content: { type: string; text: string }[]
}
async function call(name: string, given: Record<string, unknown> = {}): Promise<{ isError: boolean; text: string }> {
  const { isError = false, content } = (await client.callTool({ name, arguments: given })) as Answer
  return { isError, text: content.map((one) => one.text).join('') }
}
const read = async <T>(name: string, given?: Record<string, unknown>): Promise<T> => {
  const { isError, text } = await call(name, given)
  expect(isError, text).toBe(false)
  return JSON.parse(text) as T
}

it('has five tools that read', async () => {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['search_docs', 'read_page', 'explain_error', 'list_plugins', 'inspect_app'])
})

it.each([
  ['api key for a program', 'plugins/api-keys'],
  ['mfa with an authenticator app', 'plugins/two-factor'],
  ['magic link', 'plugins/email'],
  ['active: false of a SCIM directory', 'plugins/scim'],
  ['saml connection of an organization', 'plugins/sso'],
  ['move from NextAuth 4', 'migrating-from-nextauth-4'],
])('a search for %s finds %s', async (query, name) => {
  const { pages } = await read<{ pages: { name: string; excerpt: string }[] }>('search_docs', { query })
  expect(pages.map((page) => page.name)).toContain(name)
  expect(pages.every(({ excerpt }) => excerpt.length > 0 && excerpt.length <= 400)).toBe(true)
})

it('a page is read by its name, and by its address on the site', async () => {
  const { title, text } = await read<{ title: string; text: string }>('read_page', { page: 'plugins/api-keys' })
  expect([title, text]).toEqual(['API keys: apiKeysPlugin', readFileSync(join(root, 'docs/plugins/api-keys.md'), 'utf8')])
  expect((await read<{ title: string }>('read_page', { page: '/plugins/api-keys.html' })).title).toBe(title)
})

it('an error type is explained', async () => {
  const { remedy } = await read<{ remedy: string }>('explain_error', { type: 'https://app.example/auth/error?error=AccessDenied' })
  expect(remedy.length).toBeGreaterThan(10)
})

it('plugins are listed with their options', async () => {
  const { plugins } = await read<{ plugins: { page: string; options: { name: string }[] }[] }>('list_plugins', { name: 'scimPlugin' })
  expect(plugins.find(({ page }) => page === 'plugins/scim')?.options.map(({ name }) => name)).toContain('tokenDays')
  const all = await read<{ plugins: { page: string }[] }>('list_plugins')
  expect(all.plugins.length).toBeGreaterThan(50)
})

it('this app is inspected, whatever its module prints', { timeout: 60_000 }, async () => {
  const report = await read<{ ok: boolean; plugins: unknown[] }>('inspect_app')
  expect(JSON.stringify(report)).toContain('/callback/')
  expect(await read('inspect_app', { auth: 'missing.ts' })).toMatchObject({ ok: false, error: expect.stringContaining('missing.ts') })
})

describe('what is wrong is an answer that says so', () => {
  it.each([
    ['read_page', { page: '../package' }, 'There is no page'],
    ['read_page', { page: 'plugins/../../package' }, 'There is no page'],
    ['read_page', {}, '`page` must be a text'],
    ['search_docs', { query: 'x'.repeat(501) }, '`query` must be a text'],
    ['search_docs', { query: 'session', limit: 1000 }, '`limit` must be'],
    ['explain_error', { type: 'Nothing' }, 'There is no error type'],
    ['inspect_app', { auth: '../../elsewhere.ts' }, 'below the folder of the app'],
    ['inspect_app', { auth: '/etc/passwd' }, 'below the folder of the app'],
    ['unknown', {}, 'There is no tool'],
  ])('%s', async (name, given, said) => {
    const { isError, text } = await call(name, given)
    expect([isError, text]).toEqual([true, expect.stringContaining(said)])
  })
})
