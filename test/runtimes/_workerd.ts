/** Runs test files inside workerd itself: one bundle, one process, one request per file. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { bundleBare, bundleTests } from './_bundle.ts'
import { startRelay } from './_relay.ts'
import type { Result } from './_workerd/worker.ts'

/** A worker that runs tests. */
export interface Workerd {
  /** What became of the tests of a file, and how the runtime calls itself. */
  runFile(path: string): Promise<{ agent: string; results: Result[] }>
  close(): Promise<void>
}

/** Bundles the files (paths from the repository's root) and starts a worker for them. */
export async function startWorkerd(binary: string, files: readonly string[]): Promise<Workerd> {
  // `nodejs_compat` is for the tests, which make keys and hashes with `node:crypto`.
  const worker = await serve(binary, ['nodejs_compat'], (outfile) => bundleTests(outfile, files))
  const relay = await startRelay(worker.url)
  return {
    runFile: (file) => worker.json(`/run?${new URLSearchParams({ file, hub: relay.url }).toString()}`),
    async close() {
      await worker.close()
      await relay.close()
    },
  }
}

/** What `_workerd/bare.ts` answers, in a worker without any flag: `type strategy` to `ok` or an error. */
export async function runBare(binary: string): Promise<Record<string, string>> {
  const worker = await serve(binary, [], bundleBare)
  try {
    return await worker.json('/')
  } finally {
    await worker.close()
  }
}

interface Worker {
  url: string
  /** A JSON answer. Throws with what the process said. */
  json<T>(path: string): Promise<T>
  close(): Promise<void>
}

/** A worker on a free port of loopback. */
async function serve(binary: string, flags: readonly string[], bundle: (outfile: string) => Promise<void>): Promise<Worker> {
  const folder = await mkdtemp(join(tmpdir(), 'authkernel-workerd-'))
  try {
    await bundle(join(folder, 'worker.mjs'))
    await writeFile(join(folder, 'config.capnp'), configOf(flags))
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  const child = spawn(binary, ['serve', 'config.capnp', '--socket-addr=main=127.0.0.1:0', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
  })
  const log = logOf(child)
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
  const told = (error: unknown): Error => new Error(`${String(error)}\n${log()}`, { cause: error })
  try {
    const url = `http://127.0.0.1:${await portOf(child)}`
    return {
      url,
      close,
      json: <T>(path: string) =>
        fetch(url + path)
          .then((response) => response.json() as T)
          .catch((error: unknown) => {
            throw told(error)
          }),
    }
  } catch (error) {
    await close()
    throw told(error)
  }
}

/** Its port, as the process reports it on its control channel. */
async function portOf(child: ChildProcess): Promise<number> {
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

function configOf(flags: readonly string[]): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "worker", worker = .worker),
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [(name = "main", http = (), service = "worker")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ${JSON.stringify(flags)},
);
`
}
