/** Bundles of the sources, and of their tests, for workerd. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('../../', import.meta.url))
const here = fileURLToPath(new URL('./_workerd/', import.meta.url))

const options: BuildOptions = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  conditions: ['workerd', 'worker', 'import'],
  logLevel: 'error',
  absWorkingDir: root,
  tsconfig: join(root, 'tsconfig.json'),
}

/** `_workerd/worker.ts` with test files (paths from the repository's root). */
export async function bundleTests(outfile: string, files: readonly string[]): Promise<void> {
  // Not split: each file becomes a function that runs with the request, because workerd allows no randomness at start.
  const entries = files.map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(join(root, file))}),`)
  await build({
    ...options,
    entryPoints: [join(here, 'worker.ts')],
    outfile,
    // An optional peer: where it is missing, passwords are hashed with scrypt.
    external: ['node:*', '@node-rs/argon2'],
    banner: { js: `import { createRequire } from 'node:module'\nconst require = createRequire('/')` },
    plugins: [standIns(`export default {\n${entries.join('\n')}\n}`)],
  })
}

/** `_workerd/bare.ts`. Fails where the package imports anything of Node. */
export async function bundleBare(outfile: string): Promise<void> {
  // The optional peer of a provider that sends through SMTP; this worker sends its mail by itself.
  await build({ ...options, entryPoints: [join(here, 'bare.ts')], outfile, external: ['nodemailer'] })
}

const nodeNames = /^(?:assert|buffer|crypto|dns|events|fs|http|https|net|os|path|stream|string_decoder|tls|url|util|zlib)(?:\/\w+)?$/

function standIns(testFiles: string): Plugin {
  const vitest = dirname(createRequire(import.meta.url).resolve('vitest/package.json'))
  const texts: Record<string, string> = { 'test-files': testFiles, nothing: 'module.exports = {}' }
  return {
    name: 'stand-ins',
    setup({ onLoad, onResolve, resolve }) {
      onResolve({ filter: /^test-files$/ }, ({ path }) => ({ path, namespace: 'text' }))
      onLoad({ filter: /.*/, namespace: 'text' }, ({ path }) => ({ contents: texts[path] ?? '', resolveDir: root, loader: 'js' }))
      onResolve({ filter: /^vitest$/ }, () => ({ path: join(here, 'vitest.ts') }))
      // Parts of vitest, wherever npm put them.
      onResolve({ filter: /^@vitest\// }, ({ path, kind, resolveDir }) =>
        resolveDir.startsWith(dirname(join(here, 'x'))) ? resolve(path, { kind, resolveDir: vitest }) : undefined,
      )
      onResolve({ filter: /^node:http$/ }, ({ importer }) =>
        importer.includes('node_modules') ? undefined : { path: join(here, 'node-http.ts') },
      )
      // nodemailer's, which workerd lacks.
      onResolve({ filter: /^(?:node:)?child_process$/ }, () => ({ path: 'nothing', namespace: 'text' }))
      onResolve({ filter: nodeNames }, ({ path }) => ({ path: `node:${path}`, external: true }))
    },
  }
}
