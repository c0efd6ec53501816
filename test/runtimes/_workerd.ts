/** Runs test files inside workerd itself: one bundle, one process, one request per file. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { startRelay } from './_relay.ts'
import type { Result } from './_workerd/worker.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const here = fileURLToPath(new URL('./_workerd/', import.meta.url))

/** A running workerd. */
export interface Workerd {
  /** What became of the tests of a file, and how the runtime calls itself. */
  runFile(path: string): Promise<{ agent: string; results: Result[] }>
  close(): Promise<void>
}

/** Bundles the files (paths from the repository's root) and starts the worker on a free port of loopback. */
export async function startWorkerd(binary: string, files: readonly string[]): Promise<Workerd> {
  const folder = await mkdtemp(join(tmpdir(), 'authkernel-workerd-'))
  await bundle(join(folder, 'worker.mjs'), files)
  await writeFile(join(folder, 'config.capnp'), config)
  const child = spawn(binary, ['serve', 'config.capnp', '--socket-addr=main=127.0.0.1:0', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
  })
  let worker = ''
  const relay = await startRelay(() => worker)
  const log = logOf(child)
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await relay.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    worker = `http://127.0.0.1:${await listening(child)}`
  } catch (error) {
    await close()
    throw new Error(`${String(error)}\n${log()}`, { cause: error })
  }
  return {
    close,
    async runFile(path) {
      try {
        const response = await fetch(`${worker}/run?${new URLSearchParams({ file: path, hub: relay.url }).toString()}`)
        return (await response.json()) as Awaited<ReturnType<Workerd['runFile']>>
      } catch (error) {
        throw new Error(`${path} gave no results: ${String(error)}\n${log()}`, { cause: error })
      }
    },
  }
}

/** Its port, as the process reports it on its control channel. */
async function listening(child: ChildProcess): Promise<number> {
  const control = child.stdio[3] as Readable
  child.once('error', (error) => control.destroy(error))
  for await (const line of createInterface({ input: control })) {
    const { event, port } = JSON.parse(line) as { event: string; port: number }
    if (event === 'listen') return port
  }
  throw new Error('workerd ended before it listened.')
}

/** The end of what it says. Much is said by design: a server that never answers is one of the tests. */
function logOf(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-4000)
  })
  return () => text
}

// `nodejs_compat` is for the tests, which make keys and hashes with `node:crypto`; what the package itself needs of it, _bare.ts tells.
const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "tests", worker = .tests),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "main", http = (), service = "tests")],
);
const tests :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"],
);
`

async function bundle(outfile: string, files: readonly string[]): Promise<void> {
  // Not split: each file becomes a function that runs with the request, because workerd allows no randomness at start.
  const entries = files.map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(join(root, file))}),`)
  await build({
    entryPoints: [join(here, 'worker.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'import'],
    external: ['node:*', 'cloudflare:*'],
    banner: { js: `import { createRequire } from 'node:module'\nconst require = createRequire('/')` },
    logLevel: 'error',
    absWorkingDir: root,
    tsconfig: join(root, 'tsconfig.json'),
    plugins: [stands({ 'test-files': `export default {\n${entries.join('\n')}\n}` })],
  })
}

const nodeNames = /^(?:assert|buffer|crypto|dns|events|fs|http|https|net|os|path|stream|string_decoder|tls|url|util|zlib)(?:\/\w+)?$/

function stands(texts: Record<string, string>): Plugin {
  const vitest = dirname(createRequire(import.meta.url).resolve('vitest/package.json'))
  return {
    name: 'stands',
    setup({ onLoad, onResolve, resolve }) {
      onResolve({ filter: /^test-files$/ }, ({ path }) => ({ path, namespace: 'text' }))
      onLoad({ filter: /.*/, namespace: 'text' }, ({ path }) => ({ contents: texts[path] ?? 'module.exports = {}', resolveDir: root, loader: 'js' }))
      onResolve({ filter: /^vitest$/ }, () => ({ path: join(here, 'vitest.ts') }))
      // Parts of vitest, wherever npm put them.
      onResolve({ filter: /^@vitest\// }, ({ path, kind, resolveDir }) =>
        resolveDir.startsWith(here.slice(0, -1)) ? resolve(path, { kind, resolveDir: vitest }) : undefined,
      )
      onResolve({ filter: /^node:http$/ }, ({ importer }) => (importer.includes('node_modules') ? undefined : { path: join(here, 'node-http.ts') }))
      onResolve({ filter: /^(?:node:)?child_process$/ }, () => ({ path: 'nothing', namespace: 'text' }))
      onResolve({ filter: nodeNames }, ({ path }) => ({ path: `node:${path}`, external: true }))
    },
  }
}
