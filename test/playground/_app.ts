/** An app of `playground/`, built once by its own framework with the package as users install it, and its server. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyStyle } from '../../playground/_shared/style.ts'
import { clean, install, run } from '../../scripts/install.ts'
import { startSurroundings, type Surroundings } from '../../playground/_shared/surroundings.ts'

export { clean, install, run } from '../../scripts/install.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A playground and its commands, without `npm run` between. */
export interface App {
  folder: string
  /** Programs of the app's own node_modules. */
  build?: readonly string[]
  start: readonly string[]
  basePath?: string
  env?: (port: number) => Record<string, string>
}
/** A running server with its provider and mailbox. */
export interface Running extends Surroundings {
  /** By the name that passkeys are bound to. */
  origin: string
  /** What the app has written; its end is in failures. */
  log(): string
}

/** Installs what is missing, puts the packed package in and builds. Throws with what the framework's build said. */
export function build({ folder, build: command }: App): void {
  const home = join(root, 'playground', folder)
  if (!existsSync(join(home, 'node_modules'))) run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], home)
  install(home)
  copyStyle(home)
  if (command) run(process.execPath, bin(home, command), home)
}

/** Starts the built app on a free port and waits until it answers. */
export async function start({ folder, start: command, basePath = '/auth', env }: App): Promise<Running> {
  const home = join(root, 'playground', folder)
  const port = await freePort()
  const around = await startSurroundings(port, basePath)
  const child = spawn(process.execPath, bin(home, command), {
    cwd: home,
    env: { ...clean(), ...around.env, NODE_ENV: 'production', ...env?.(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log = (log + String(chunk)).slice(-20_000)))
  const origin = `http://localhost:${port}`
  const close = async (): Promise<void> => {
    await end(child)
    await around.close()
  }
  try {
    await answering(`${origin}${basePath}/session`, child)
  } catch (error) {
    await close()
    throw new Error(`playground/${folder} did not start: ${String(error)}\n${log}`, { cause: error })
  }
  return { ...around, origin, log: () => log, close }
}

function bin(home: string, [program = '', ...args]: readonly string[]): string[] {
  return [join(home, program), ...args]
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    if (status >= 400) throw new Error(`${url} answered ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('it did not answer within a minute')
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
    // A server that waits for open connections would wait for ever.
    setTimeout(() => child.kill('SIGKILL'), 3_000).unref()
  })
}
