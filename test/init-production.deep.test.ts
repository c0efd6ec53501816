/**
 * What `authkernel init` writes for frameworks that bundle the app, built as for production and started without NODE_ENV: "demo" signs no user in.
 * `test/playground/init.slow.test.ts` does it with the frameworks themselves.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { afterEach, describe, expect, it } from 'vitest'
import { aliases } from '../scripts/aliases.ts'
import { runCli } from '../src/cli/run.ts'
import { root } from './_sources.ts'

const require = createRequire(import.meta.url)
// Vitest brings it along: the one that its projects are built with.
const vite = join(dirname(createRequire(require.resolve('vitest/package.json')).resolve('vite/package.json')), 'bin/vite.js')
const folders: string[] = []
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })))

interface App {
  dependencies: Record<string, string>
  module: string
  /** The flag in the module that `init` writes. */
  flag: string
  base: string
  /** Makes `handle`, a function of a request, of what the module exports. */
  entry: string
  /** Packages that are not installed here. */
  stubs?: Record<string, string>
  /** What the framework writes instead of the flag: `build` for a built app, `dev` for its development server. */
  defines: Record<'build' | 'dev', Record<string, string>>
}
const viteDefines = { build: { 'import.meta.env': '{"DEV":false,"PROD":true}' }, dev: { 'import.meta.env': '{"DEV":true,"PROD":false}' } }
const apps: Record<string, App> = {
  nuxt: {
    dependencies: { nuxt: '^4.3.1' },
    module: 'server/utils/auth.ts',
    flag: 'import.meta.dev',
    base: '/auth',
    entry: `import { createApp, defineEventHandler, toWebHandler } from 'h3v1'
const app = createApp()
app.use(defineEventHandler((event) => auth.handler(event)))
const handle = toWebHandler(app)`,
    // Nitro replaces it by text.
    defines: { build: { 'import.meta.dev': 'false' }, dev: { 'import.meta.dev': 'true' } },
  },
  'solid-start': {
    dependencies: { '@solidjs/start': '^1.3.2', vinxi: '^0.5.11' },
    module: 'src/auth.ts',
    flag: 'import.meta.env?.DEV',
    base: '/api/auth',
    entry: `const handle = async (request) => {
  const headers = new Headers()
  const answer = await auth[request.method]({ request, response: { headers }, locals: {}, clientAddress: '127.0.0.1' })
  const all = new Headers(answer.headers)
  for (const line of headers.getSetCookie()) all.append('set-cookie', line)
  return new Response(answer.body, { status: answer.status, headers: all })
}`,
    defines: viteDefines,
  },
  qwik: {
    dependencies: { '@builder.io/qwik-city': '^1.20.1' },
    module: 'src/auth.ts',
    flag: 'import.meta.env?.DEV',
    base: '/auth',
    entry: 'const handle = (request) => auth.handler(request)',
    stubs: {
      '@builder.io/qwik': 'export const inlinedQrl = () => {}, implicit$FirstArg = () => {}',
      '@builder.io/qwik-city': 'export const globalActionQrl = () => {}, routeLoaderQrl = () => {}',
    },
    defines: viteDefines,
  },
}

/** Walks through the form in the process of the app, and prints the session. */
const walk = (base: string): string => `
const cookies = new Map()
const send = async (path, init = {}) => {
  const cookie = [...cookies].map(([name, value]) => name + '=' + value).join('; ')
  const headers = { cookie, host: 'localhost:3000', origin: 'http://localhost:3000', ...init.headers }
  const response = await handle(new Request('http://localhost:3000${base}' + path, { ...init, headers }))
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
    cookies.set(name, value)
  }
  return response
}
const page = await (await send('/signin')).text()
const { csrfToken } = await (await send('/csrf')).json()
const body = new URLSearchParams({ csrfToken, username: 'demo', password: 'demo', callbackUrl: '/' })
await send('/callback/demo', { method: 'POST', body })
const session = await (await send('/session')).json()
console.log('SAID ' + JSON.stringify({ form: page.includes('name="password"'), name: session?.user?.name ?? null }))
`

/** The project after `init`, with an entry that signs in. */
async function project({ dependencies, module, base, entry, stubs }: App): Promise<{ folder: string; written: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-production-'))
  folders.push(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', type: 'module', dependencies }))
  writeFileSync(join(folder, 'tsconfig.json'), '{}')
  const silent = { write: () => undefined }
  expect(await runCli(['init', '--yes', '--no-install'], { stdout: silent, stderr: silent, env: {}, cwd: folder })).toBe(0)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  // Of the framework: what the binding imports, which signing in does not use.
  for (const [name, text] of Object.entries(stubs ?? {})) {
    const to = join(folder, 'out/node_modules', name)
    mkdirSync(to, { recursive: true })
    writeFileSync(join(to, 'package.json'), '{ "type": "module", "exports": "./index.js" }')
    writeFileSync(join(to, 'index.js'), text)
  }
  writeFileSync(join(folder, 'entry.ts'), `import { auth } from './${module.replace(/\.ts$/, '')}'\n${entry}\n${walk(base)}`)
  return { folder, written: readFileSync(join(folder, module), 'utf8') }
}

/** Runs the built file as the docs of the frameworks start one: without NODE_ENV. */
function run(folder: string): unknown {
  const said = execFileSync(process.execPath, ['out/entry.mjs'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], AUTH_SECRET: 'a-secret-of-more-than-32-characters-for-tests' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return JSON.parse(/^SAID (.*)$/m.exec(said)![1]!)
}

async function bundle(folder: string, define: Record<string, string>): Promise<void> {
  await build({
    entryPoints: [join(folder, 'entry.ts')],
    outfile: join(folder, 'out/entry.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    define,
    packages: 'external',
    logLevel: 'silent',
    plugins: [
      {
        name: 'sources',
        setup(own) {
          own.onResolve({ filter: /^authkernel(\/|$)/ }, ({ path }) => {
            const { find, replacement } = aliases.find((alias) => alias.find.test(path))!
            return { path: path.replace(find, replacement) }
          })
        },
      },
    ],
  })
}

describe.each(Object.entries(apps))('%s', (_name, app) => {
  it('the flag is the one of the development server, and nothing asks NODE_ENV', async () => {
    const { written } = await project(app)
    expect(written).toContain(`demoAccount({ development: ${app.flag} })`)
    expect(written).not.toContain('NODE_ENV')
  })

  it('a built app has no form for it and signs no user in; the development server does', { timeout: 60_000 }, async () => {
    const { folder } = await project(app)
    await bundle(folder, app.defines.build)
    expect(run(folder)).toEqual({ form: false, name: null })
    // A bundler that leaves the flag as it is.
    await bundle(folder, {})
    expect(run(folder)).toEqual({ form: false, name: null })
    await bundle(folder, app.defines.dev)
    expect(run(folder)).toEqual({ form: true, name: 'Demo' })
  })
})

it.each(['solid-start', 'qwik'])('%s: nor does an app that Vite built', { timeout: 120_000 }, async (name) => {
  const { folder } = await project(apps[name]!)
  const alias = aliases.map(({ find, replacement }) => `{ find: ${String(find)}, replacement: ${JSON.stringify(replacement)} }`)
  const external = "(id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('authkernel')"
  writeFileSync(
    join(folder, 'vite.config.mjs'),
    `export default { resolve: { alias: [${alias.join(', ')}] }, build: { ssr: 'entry.ts', outDir: 'out', emptyOutDir: false, target: 'node20', rollupOptions: { external: ${external}, output: { entryFileNames: 'entry.mjs', format: 'es' } } } }`,
  )
  execFileSync(process.execPath, [vite, 'build'], { cwd: folder, env: { PATH: process.env['PATH'] }, stdio: 'pipe' })
  expect(run(folder)).toEqual({ form: false, name: null })
})
