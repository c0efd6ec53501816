/**
 * `authkernel init` of the packed package on fresh apps, each started as in development and signed in to. The files are those of the framework's own
 * generator where it ships them in its npm package (create-qwik, sv, create-next-app). Those of Nuxt and SolidStart fetch them from GitHub, which a test does not
 * reach: a small project with the same files stands in. The framework's packages are those of `playground/`, so that all tests speak of the same versions.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { root } from '../_sources.ts'
import { Client } from '../_client.ts'
import { clean, install, run } from './_app.ts'

interface Fresh {
  /** Makes the app in an empty folder. */
  make(folder: string): void
  /** Program of the app's node_modules, and how it is told the port. */
  dev(port: number): string[]
  base: string
  /** Commands that build for production, and that start what was built: without NODE_ENV, as its documentation says. */
  built?: { build: string[]; start: string[] }
}

const write = (folder: string, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
/** Runs a generator of npm beside the folder, and moves what it made into it. */
const generate = (folder: string, ...command: string[]): void => {
  const beside = mkdtempSync(join(tmpdir(), 'authkernel-generated-'))
  run('npx', ['--yes', ...command], beside)
  cpSync(join(beside, 'app'), folder, { recursive: true })
  rmSync(beside, { recursive: true, force: true })
}

const edit = (folder: string, file: string, change: (text: string) => string): void => {
  const path = join(folder, file)
  if (existsSync(path)) writeFileSync(path, change(readFileSync(path, 'utf8')))
}

const apps: Record<string, Fresh> = {
  qwik: {
    make(folder) {
      generate(folder, 'create-qwik@1.20.1', 'empty', 'app')
      // The playground does without this package.
      edit(folder, 'vite.config.ts', (text) => text.replace(/^import tsconfigPaths.*\n/m, '').replace(/,?\s*tsconfigPaths\([^)]*\)/, ''))
    },
    dev: (port) => ['node_modules/vite/bin/vite.js', '--mode', 'ssr', '--port', `${port}`, '--strictPort', '--host', '127.0.0.1'],
    base: '/auth',
  },
  sveltekit: {
    make(folder) {
      generate(folder, 'sv@0.17.1', 'create', 'app', '--template', 'minimal', '--types', 'ts', '--no-add-ons', '--no-install')
      // The playground has the adapter for Node.
      for (const file of ['vite.config.ts', 'svelte.config.js'])
        edit(folder, file, (text) => text.replaceAll('@sveltejs/adapter-auto', '@sveltejs/adapter-node'))
    },
    dev: (port) => ['node_modules/vite/bin/vite.js', 'dev', '--port', `${port}`, '--strictPort', '--host', '127.0.0.1'],
    base: '/auth',
    built: { build: ['node_modules/vite/bin/vite.js', 'build'], start: ['--env-file=.env', 'build'] },
  },
  next: {
    make: (folder) =>
      generate(
        folder,
        'create-next-app@16',
        'app',
        '--ts',
        '--app',
        '--src-dir',
        '--no-eslint',
        '--no-tailwind',
        '--no-react-compiler',
        '--import-alias',
        '@/*',
        '--use-npm',
        '--skip-install',
        '--disable-git',
        '--yes',
      ),
    dev: (port) => ['node_modules/next/dist/bin/next', 'dev', '--port', `${port}`, '--hostname', '127.0.0.1'],
    base: '/api/auth',
  },
  nuxt: {
    make: (folder) =>
      write(folder, {
        'package.json': JSON.stringify({
          name: 'app',
          type: 'module',
          private: true,
          dependencies: { nuxt: '^4.3.1', vue: '^3.5.0', 'vue-router': '^4.6.0' },
        }),
        'nuxt.config.ts': "export default defineNuxtConfig({ compatibilityDate: '2026-11-01', telemetry: false })\n",
        'tsconfig.json': '{ "files": [], "references": [{ "path": "./.nuxt/tsconfig.app.json" }] }',
        '.gitignore': 'node_modules\n.nuxt\n.output\n.env\n.env.*\n!.env.example\n',
        'app/app.vue': '<template>\n  <NuxtRouteAnnouncer />\n</template>\n',
      }),
    dev: (port) => ['node_modules/nuxt/bin/nuxt.mjs', 'dev', '--port', `${port}`, '--host', '127.0.0.1'],
    base: '/auth',
    built: { build: ['node_modules/nuxt/bin/nuxt.mjs', 'build'], start: ['--env-file=.env', '.output/server/index.mjs'] },
  },
  'solid-start': {
    make: (folder) =>
      write(folder, {
        'package.json': JSON.stringify({
          name: 'app',
          type: 'module',
          dependencies: { '@solidjs/router': '^1.0.0', '@solidjs/start': '^1.3.2', 'solid-js': '^1.9.19', vinxi: '^0.5.11' },
        }),
        'app.config.ts': "import { defineConfig } from '@solidjs/start/config'\n\nexport default defineConfig({})\n",
        'tsconfig.json':
          '{ "compilerOptions": { "jsx": "preserve", "jsxImportSource": "solid-js", "module": "ESNext", "moduleResolution": "bundler" } }',
        '.gitignore': 'dist\n.output\n.vinxi\nnode_modules\n.env\n.env*.local\n',
        'src/entry-client.tsx':
          '// @refresh reload\nimport { mount, StartClient } from "@solidjs/start/client";\n\nmount(() => <StartClient />, document.getElementById("app")!);\n',
        'src/entry-server.tsx':
          '// @refresh reload\nimport { createHandler, StartServer } from "@solidjs/start/server";\n\nexport default createHandler(() => (\n  <StartServer document={({ assets, children, scripts }) => (<html lang="en"><head>{assets}</head><body><div id="app">{children}</div>{scripts}</body></html>)} />\n));\n',
        'src/app.tsx':
          'import { Router } from "@solidjs/router";\nimport { FileRoutes } from "@solidjs/start/router";\nimport { Suspense } from "solid-js";\n\nexport default function App() {\n  return <Router root={(props) => <Suspense>{props.children}</Suspense>}><FileRoutes /></Router>;\n}\n',
        'src/routes/index.tsx': 'export default function Home() {\n  return <main>Hello</main>;\n}\n',
      }),
    dev: (port) => ['node_modules/vinxi/bin/cli.mjs', 'dev', '--port', `${port}`, '--host', '127.0.0.1'],
    base: '/api/auth',
  },
}

const ends: (() => void)[] = []
afterEach(() => ends.splice(0).forEach((end) => end()))

it.each(Object.entries(apps))(
  '%s: init ends in a page that signs in, and a second run changes nothing',
  async (name, { make, dev, base, built }) => {
    const folder = mkdtempSync(join(tmpdir(), `authkernel-init-${name}-`))
    ends.push(() => rmSync(folder, { recursive: true, force: true }))
    make(folder)
    packagesOf(name, folder)
    const init = (): string => run(process.execPath, ['node_modules/authkernel/dist/cli.mjs', 'init', '--yes', '--no-install'], folder)
    const said = init()
    expect(said).toContain(`http://localhost:${name === 'qwik' || name === 'sveltekit' ? 5173 : 3000}${base}/signin`)
    expect(said).not.toContain('to do')
    const before = contents(folder)
    init()
    expect(contents(folder)).toEqual(before)
    const origin = await start(folder, dev, base)
    const browser = new Client({ handler: (request) => fetch(request, { redirect: 'manual' }) }, { origin, basePath: base })
    const page = await (await browser.get('/signin')).text()
    expect(page).toContain('name="password"')
    const fields = { csrfToken: await browser.csrfToken(), username: 'demo', password: 'demo', callbackUrl: origin }
    expect((await browser.post('/callback/demo', fields)).status).toBe(302)
    expect((await browser.session())?.user?.name).toBe('Demo')
    if (built) expect(await tryProduction(folder, built, base)).toEqual({ form: false, session: null, foreign: 500 })
    // Its id and secret are missing, so that the app would say so from now on.
    const added = run(process.execPath, ['node_modules/authkernel/dist/cli.mjs', 'add', 'github', '--yes', '--no-install'], folder)
    expect(added).toContain('github')
    run(process.execPath, ['node_modules/authkernel/dist/cli.mjs', 'add', 'github', '--yes', '--no-install'], folder)
    const text = Object.entries(contents(folder)).find(([path]) => /(^|utils\/|src\/)auth\.ts$/.test(path))?.[1] ?? ''
    expect(text.match(/github\(\)/g)).toHaveLength(1)
  },
  600_000,
)

/** Those of the playground, with the packed package among them. */
function packagesOf(name: string, folder: string): void {
  const home = join(root, 'playground', name)
  if (!existsSync(join(home, 'node_modules'))) run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], home)
  install(home, Boolean(process.env.AUTHKERNEL_BUILT) || packed)
  packed = true
  // As `npm install authkernel` leaves it: Qwik's plugin of Vite reads there which packages it takes apart.
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies?: object }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, dependencies: { ...manifest.dependencies, authkernel: '*' } }))
  const target = join(folder, 'node_modules')
  rmSync(target, { recursive: true, force: true })
  try {
    // Hard links where both are on one disk.
    execFileSync('cp', ['-al', join(home, 'node_modules'), target], { stdio: 'ignore' })
  } catch {
    cpSync(join(home, 'node_modules'), target, { recursive: true })
  }
}
let packed = false

function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !['node_modules', '.git', '.nuxt', '.svelte-kit', '.next', '.vinxi', '.output'].includes(name))
    .flatMap((entry) => (entry.isDirectory() ? readdirSync(join(folder, entry.name), { recursive: true, withFileTypes: true }) : [entry]))
    .filter((entry) => entry.isFile() && /\.(?:[cm]?[jt]sx?|json|vue|svelte)$|^\.(?:env|git)/.test(entry.name))
  return Object.fromEntries(
    files.map((entry) => [
      join(entry.parentPath, entry.name).slice(folder.length + 1),
      readFileSync(join(entry.parentPath, entry.name), 'utf8'),
    ]),
  )
}

async function start(folder: string, dev: Fresh['dev'], base: string): Promise<string> {
  const port = await freePort()
  // A group of its own: development servers have children.
  const child = spawn(process.execPath, dev(port), {
    cwd: folder,
    env: { ...clean(), PORT: `${port}`, HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  ends.unshift(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It has ended.
    }
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said = (said + String(data)).slice(-8000)))
  const origin = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 300 && child.exitCode === null; tries++) {
    const answer = await fetch(`${origin}${base}/csrf`, { signal: AbortSignal.timeout(60_000) }).catch(() => undefined)
    if (answer?.ok && answer.headers.get('content-type')?.includes('json')) return origin
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  throw new Error(`The app did not start: ${said}`)
}

/** Whether the demo account is there on the built app, and what a host that nothing names is answered. */
async function tryProduction(folder: string, { build, start: command }: NonNullable<Fresh['built']>, base: string): Promise<object> {
  run(process.execPath, build, folder)
  const origin = await start(folder, () => command, base)
  const browser = new Client({ handler: (request) => fetch(request, { redirect: 'manual' }) }, { origin, basePath: base })
  const form = (await (await browser.get('/signin')).text()).includes('name="password"')
  await browser.post('/callback/demo', { csrfToken: await browser.csrfToken(), username: 'demo', password: 'demo', callbackUrl: origin })
  const foreign = await new Promise((resolve, reject) => {
    get(`${origin}${base}/csrf`, { headers: { host: 'evil.example' } }, (answer) => resolve(answer.resume().statusCode)).on('error', reject)
  })
  return { form, session: await browser.session(), foreign }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
