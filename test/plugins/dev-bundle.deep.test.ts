/** The development panel is in no production bundle: the app is built by esbuild and by Vite, with the condition that `init` writes. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { afterEach, expect, it } from 'vitest'
import { aliases } from '../../scripts/aliases.ts'
import { root } from '../_sources.ts'

const require = createRequire(import.meta.url)
const vite = join(dirname(createRequire(require.resolve('vitest/package.json')).resolve('vite/package.json')), 'bin/vite.js')
const folders: string[] = []
afterEach(() => void folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })))

const app = (flag: string): string => `
import { createAuth } from 'authkernel'
import { devPlugin } from 'authkernel/plugins/dev'
export const auth = createAuth({ secret: 'x'.repeat(40) })
if (${flag}) auth.use(devPlugin({ development: true }))
`
const marks = ['Development panel', 'dev?key=', 'The development panel']

function project(flag: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-bundle-'))
  folders.push(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'app.ts'), app(flag))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  return folder
}

/** All files of a build, as one text. */
function textOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n')
}

async function bundle(mode: 'production' | 'development'): Promise<string> {
  const folder = project("process.env.NODE_ENV === 'development'")
  await build({
    entryPoints: [join(folder, 'app.ts')],
    outdir: join(folder, 'out'),
    bundle: true,
    splitting: true,
    minifySyntax: true,
    format: 'esm',
    platform: 'node',
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    external: ['node:*', 'jose', 'oauth4webapi', 'hookable', 'defu', 'rou3', 'kysely'],
    packages: 'external',
    logLevel: 'silent',
    plugins: [
      {
        name: 'sources',
        setup: (own) =>
          own.onResolve({ filter: /^authkernel(\/|$)/ }, ({ path }) => {
            const { find, replacement } = aliases.find((alias) => alias.find.test(path))!
            return { path: path.replace(find, replacement), sideEffects: false }
          }),
      },
    ],
  })
  return textOf(join(folder, 'out'))
}

it('esbuild: in the development build, and not in the one for production', { timeout: 120_000 }, async () => {
  const development = await bundle('development')
  expect(marks.filter((mark) => !development.includes(mark))).toEqual([])
  const production = await bundle('production')
  expect(production).toContain('createAuth')
  expect(marks.filter((mark) => production.includes(mark))).toEqual([])
})

it('Vite: import.meta.env.DEV leaves it out of `vite build`', { timeout: 180_000 }, () => {
  const folder = project('import.meta.env?.DEV')
  const alias = aliases.map(({ find, replacement }) => `{ find: ${String(find)}, replacement: ${JSON.stringify(replacement)} }`)
  const external = "(id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('authkernel')"
  writeFileSync(
    join(folder, 'vite.config.mjs'),
    `export default { resolve: { alias: [${alias.join(', ')}] }, build: { ssr: 'app.ts', outDir: 'out', target: 'node20', minify: false, rollupOptions: { external: ${external}, output: { format: 'es' } } } }`,
  )
  const run = (mode: string): string => {
    execFileSync(process.execPath, [vite, 'build', '--mode', mode], {
      cwd: folder,
      env: { PATH: process.env['PATH'], NODE_ENV: mode },
      stdio: 'pipe',
    })
    return textOf(join(folder, 'out'))
  }
  const production = run('production')
  expect(production).toContain('createAuth')
  expect(marks.filter((mark) => production.includes(mark))).toEqual([])
  const development = run('development')
  expect(marks.filter((mark) => !development.includes(mark))).toEqual([])
})
