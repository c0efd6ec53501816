/** `authkernel init` and `add` in small fresh projects: what they write starts, signs a person in, and a second run changes nothing. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { runCli } from '../src/cli/run.ts'
import { frameworks, stores } from '../src/cli/init/project.ts'
import { addTo } from '../src/cli/init/source.ts'
import { root } from './_sources.ts'
import { sampleCases } from './_tier.ts'

const folders: string[] = []
const ends: (() => void)[] = []
afterEach(() => {
  ends.splice(0).forEach((end) => end())
  folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true }))
})

/** A project with these files; packages are those of this repository, and `authkernel` its sources. */
function project(manifest: object, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-init-'))
  folders.push(folder)
  const all = { 'package.json': JSON.stringify(manifest), ...files }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

async function cli(cwd: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' }
  const into = (name: 'stdout' | 'stderr') => ({ write: (text: string) => void (written[name] += text) })
  const code = await runCli(args, { stdout: into('stdout'), stderr: into('stderr'), env: {}, cwd })
  return { code, ...written }
}

/** All files below a folder with their texts. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map((entry) => [
      join(entry.parentPath, entry.name).slice(folder.length + 1),
      readFileSync(join(entry.parentPath, entry.name), 'utf8'),
    ]),
  )
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts a server file with the sources of this repository as `authkernel`, and waits until it answers. */
async function start(folder: string, file: string): Promise<string> {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  if (!existsSync(join(folder, 'tsconfig.json'))) writeFileSync(join(folder, 'tsconfig.json'), '{}')
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: { paths: object } }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { baseUrl: root, paths: compilerOptions.paths } }))
  const port = await freePort()
  const loader = `import { createJiti } from 'jiti'; await createJiti(${JSON.stringify(join(folder, file))}, { tsconfigPaths: true, fsCache: false }).import(${JSON.stringify(join(folder, file))})`
  const child = spawn(process.execPath, ['--env-file=.env.local', '--input-type=module', '-e', loader], {
    cwd: folder,
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  ends.push(() => child.kill())
  let said = ''
  child.stdout.on('data', (data) => (said += data))
  child.stderr.on('data', (data) => (said += data))
  const origin = `http://localhost:${port}`
  for (let tries = 0; tries < 900; tries += 1) {
    const answer = await fetch(`${origin}/auth/csrf`).catch(() => undefined)
    if (answer?.ok) return origin
    if (child.exitCode !== null) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`The server did not start: ${said}`)
}

/** Fills in the form of the sign-in page, as a browser does. */
async function signIn(origin: string): Promise<unknown> {
  const cookies = new Map<string, string>()
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(origin + path, { ...init, redirect: 'manual', headers: { cookie, origin, ...init.headers } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }
  const page = await (await send('/auth/signin')).text()
  const token = /name="csrfToken" value="([^"]+)"/.exec(page)?.[1] ?? ''
  expect(page).toContain('name="password"')
  const body = new URLSearchParams({ csrfToken: token, username: 'demo', password: 'demo', callbackUrl: '/' })
  const response = await send('/auth/callback/demo', { method: 'POST', body })
  expect(response.status).toBe(302)
  return (await send('/auth/session')).json()
}

const esm = (dependencies: Record<string, string>) => ({ name: 'app', type: 'module', dependencies })
const honoTs = `import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()

app.get('/', (c) => c.text('Hello Hono!'))

export default app
`
const expressCjs = `const express = require('express');

const app = express();
app.get('/', (req, res) => res.send('hi'));
app.listen(process.env.PORT);
`

describe('init', () => {
  const starts = [
    ['express, from nothing', esm({ express: '5' }), {}, 'server.js'],
    ['express, an app with require', { name: 'app', dependencies: { express: '5' } }, { 'app.js': expressCjs }, 'app.js'],
    ['fastify, from nothing', esm({ fastify: '5' }), {}, 'server.js'],
    ['koa, from nothing', esm({ koa: '3' }), {}, 'server.js'],
    ['h3, from nothing', esm({ h3: '2' }), {}, 'server.js'],
  ] as const
  it.each(sampleCases(starts, 2, 1))(
    '%s: ends in a page that signs in',
    async (_, manifest, files, server) => {
      const folder = project(manifest, files)
      const { stdout, code } = await cli(folder, 'init', '--yes', '--no-install')
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('/auth/signin') })
      expect(stdout).toContain(server)
      const before = contents(folder)
      expect(await cli(folder, 'init', '--yes', '--no-install')).toMatchObject({ code: 0 })
      expect(contents(folder)).toEqual(before)
      expect(await signIn(await start(folder, server))).toMatchObject({ user: { name: 'Demo' } })
    },
    120_000,
  )

  it('hono in TypeScript: an import and a line behind the app', async () => {
    const folder = project(esm({ hono: '4', typescript: '5' }), { 'src/index.ts': honoTs, 'tsconfig.json': '{ "compilerOptions": {} }' })
    await cli(folder, 'init', '--yes', '--no-install')
    expect(readFileSync(join(folder, 'src/index.ts'), 'utf8')).toBe(
      honoTs
        .replace("import { Hono } from 'hono'\n", "import { Hono } from 'hono'\nimport { auth } from './auth.js'\n")
        .replace('const app = new Hono()\n', 'const app = new Hono()\napp.use(auth.hono.handler)\n'),
    )
    expect(readFileSync(join(folder, 'src/auth.ts'), 'utf8')).toContain(
      "demoAccount({ development: process.env.NODE_ENV !== 'production' })",
    )
  })

  it('next and sveltekit: the files that their docs name', async () => {
    const next = project({ dependencies: { next: '16' } }, { 'tsconfig.json': '{}', 'app/page.tsx': '' })
    await cli(next, 'init', '--yes', '--no-install', '--providers', 'demo,github')
    expect(Object.keys(contents(next)).sort()).toEqual([
      '.env.local',
      '.gitignore',
      'app/api/auth/[...nextauth]/route.ts',
      'app/page.tsx',
      'auth.ts',
      'package.json',
      'tsconfig.json',
    ])
    expect(contents(next)['app/api/auth/[...nextauth]/route.ts']).toBe(
      "import { handlers } from '../../../../auth'\n\nexport const { GET, POST } = handlers\n",
    )
    expect(contents(next)['.env.local']).toMatch(/^AUTH_SECRET="[^"]{44}"\nAUTH_GITHUB_ID=""\nAUTH_GITHUB_SECRET=""\n$/)
    expect(contents(next)['auth.ts']).toContain('providers: [demo, github()]')
    const kit = project(
      { devDependencies: { '@sveltejs/kit': '2' } },
      { 'tsconfig.json': '{}', 'src/app.d.ts': '// types\n', '.gitignore': 'node_modules\n.env\n' },
    )
    await cli(kit, 'init', '--yes', '--no-install')
    expect(contents(kit)['src/hooks.server.ts']).toBe("export { handle } from './auth'\n")
    expect(contents(kit)['src/app.d.ts']).toBe("import 'authkernel/bindings/sveltekit'\n// types\n")
    expect(contents(kit)['.gitignore']).toBe('node_modules\n.env\n')
    expect(contents(kit)['.env']).toContain('AUTH_SECRET')
    expect(contents(kit)['src/auth.ts']).toContain('demoAccount({ development: import.meta.env?.DEV })')
    expect(contents(next)['auth.ts']).toContain("demoAccount({ development: process.env.NODE_ENV === 'development' })")
    for (const folder of [next, kit]) {
      const before = contents(folder)
      await cli(folder, 'init', '--yes', '--no-install')
      expect(contents(folder)).toEqual(before)
    }
  })

  it('shows the diff and writes nothing without --yes without a terminal; secrets are not shown', async () => {
    const folder = project(esm({ express: '5' }), { '.gitignore': 'node_modules\n' })
    mkdirSync(join(folder, '.git'))
    const dry = await cli(folder, 'init')
    expect(dry.stdout).toContain('Nothing was written. Add --yes')
    expect(dry.stdout).toMatch(/\+ AUTH_SECRET=…/)
    expect(Object.keys(contents(folder)).sort()).toEqual(['.gitignore', 'package.json'])
    await cli(folder, 'init', '--yes', '--no-install')
    expect(contents(folder)['.gitignore']).toBe('node_modules\n.env.local\n')
    if (process.platform !== 'win32') expect(statSync(join(folder, '.env.local')).mode & 0o077).toBe(0)
  })

  it.each([
    ['sqlite', ['authkernel', 'kysely', '@libsql/client'], 'migrate: true'],
    ['postgres', ['authkernel', 'kysely', 'pg'], 'PostgresDialect'],
    ['mysql', ['authkernel', 'kysely', 'mysql2'], 'MysqlDialect'],
  ])('a store: %s', async (store, packages, text) => {
    const folder = project(esm({ express: '5' }))
    const { stdout } = await cli(folder, 'init', '--yes', '--no-install', '--store', store, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, written: true, framework: 'express', store, packages })
    expect(contents(folder)['auth.js']).toContain(text)
    // With an adapter, sessions are in the database.
    expect(contents(folder)['auth.js']).toContain('  adapter,')
    expect(contents(folder)['auth.js']).not.toContain('strategy')
  })

  it('finds the database client and the package manager', async () => {
    const folder = project(esm({ express: '5', pg: '8' }), { 'pnpm-lock.yaml': '' })
    expect(JSON.parse((await cli(folder, 'init', '--json')).stdout)).toMatchObject({ store: 'postgres', manager: 'pnpm', written: false })
  })

  it.each([
    [['init'], 'names no framework that is known here'],
    [['init', '--framework', 'rails'], 'There is no framework "rails"'],
    [['init', '--framework', 'express', '--store', 'mongo'], 'There is no store "mongo"'],
    [['init', '--framework', 'express', '--providers', 'githb'], 'brings no provider "githb"'],
    [['int'], 'There is no command "int". Did you mean "init"?'],
  ])('refuses %j', async (args, message) => {
    expect(await cli(project({}), ...args)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  })

  it('leaves a file of the host alone and says what to do', async () => {
    const folder = project({ dependencies: { '@sveltejs/kit': '2' } }, { 'src/hooks.server.js': 'export const handle = 1\n' })
    expect((await cli(folder, 'init', '--yes', '--no-install')).stdout).toMatch(
      /to do src\/hooks\.server\.js is there already: put `handle`/,
    )
    expect(contents(folder)['src/hooks.server.js']).toBe('export const handle = 1\n')
  })
})

it('the help names every framework and store', async () => {
  const { code, stdout } = await cli(tmpdir(), 'init', '--help')
  expect(code).toBe(0)
  for (const name of [...frameworks, ...stores]) expect(stdout).toContain(name)
})

describe('add', () => {
  it('two-factor starts on the store that init wrote', async () => {
    const folder = project(esm({ express: '5' }))
    await cli(folder, 'init', '--yes', '--no-install', '--store', 'sqlite')
    for (const said of ['+ import { twoFactorPlugin }', 'two-factor is in auth.js already.'])
      expect(await cli(folder, 'add', 'two-factor', '--yes', '--no-install')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(said),
      })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    // A process of its own: the file of the database is relative to where it runs.
    const { plugins, findings } = JSON.parse(
      execFileSync(process.execPath, [root + 'test/_cli.mjs', 'doctor', '--json'], { cwd: folder, encoding: 'utf8' }),
    )
    expect(plugins.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['two-factor', 'adapter']))
    expect(findings.filter(({ level }: { level: string }) => level === 'error')).toEqual([])
  })

  it('puts plugins and providers into the module that init wrote, once', async () => {
    const folder = project(esm({ express: '5' }))
    await cli(folder, 'init', '--yes', '--no-install', '--store', 'sqlite')
    for (const name of ['passkeys', 'accounts', 'google', 'passkeys'])
      expect(await cli(folder, 'add', name, '--yes', '--no-install')).toMatchObject({ code: 0, stderr: '' })
    const text = contents(folder)['auth.js'] ?? ''
    expect(text).toContain("import { webauthnPlugin } from 'authkernel/plugins/webauthn'\n")
    expect(text).toContain('providers: [google(), demo]')
    expect(text.match(/\.use\(\w+\(\)\)/g)).toEqual(['.use(accountsPlugin())', '.use(webauthnPlugin())', '.use(expressBinding())'])
    expect((await cli(folder, 'add', 'google', '--yes')).stdout).toContain('google is in auth.js already.')
  })

  it('shows the diff without --yes, lists names, and finds what was meant', async () => {
    const folder = project(esm({ express: '5' }), {
      'auth.js': "import { createAuth } from 'authkernel'\nexport const auth = createAuth()\n",
    })
    expect((await cli(folder, 'add', 'github')).stdout).toMatch(
      /\+ export const auth = createAuth\(\{ providers: \[github\(\)\] \}\)[\s\S]*Nothing was written/,
    )
    expect(JSON.parse((await cli(folder, 'add', '--json')).stdout).names).toEqual(
      expect.arrayContaining(['passkeys', 'email', 'accounts', 'google']),
    )
    expect(await cli(folder, 'add', 'paskeys')).toMatchObject({ code: 1, stderr: expect.stringContaining('Did you mean "passkeys"?') })
    expect(await cli(folder, 'add', 'tenants')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs your options: see docs/plugins/tenants.md'),
    })
  })

  it.each([
    ['createAuth({ a: ")" }).use(x())', 'createAuth({ a: ")" }).use(p()).use(x())'],
    ['export const { handle } = SvelteKitAuth({\n  env,\n})', 'export const { handle } = SvelteKitAuth({\n  env,\n}, p())'],
    ['NextAuth(options, y())', 'NextAuth(options, y(), p())'],
    ['// createAuth(\ncreateAuth()', '// createAuth(\ncreateAuth().use(p())'],
  ])('%j', (before, after) => {
    expect(addTo(`import a from 'a'\n${before}`, { import: "import { p } from 'p'", plugin: 'p()' }, 'auth.ts')).toBe(
      `import a from 'a'\nimport { p } from 'p'\n${after}`,
    )
  })
})

describe('explain', () => {
  it('tells what an error means and what to do, also for the address of an error page', async () => {
    const { stdout, code } = await cli(root, 'explain', 'invalidcheck')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^InvalidCheck status 400/)
    expect(stdout).toMatch(/To do: the (?:user|visitor) starts again/)
    expect(JSON.parse((await cli(root, 'explain', 'https://app.example/auth/error?error=AccessDenied', '--json')).stdout)).toMatchObject({
      type: 'AccessDenied',
      status: '403',
    })
  })

  it('knows every error of the table, and offers the nearest for another', async () => {
    const { types } = JSON.parse((await cli(root, 'explain', '--json')).stdout) as { types: string[] }
    expect(types.length).toBeGreaterThan(25)
    expect(await cli(root, 'explain', 'InvalidChek')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Did you mean "InvalidCheck"?'),
    })
  })
})
