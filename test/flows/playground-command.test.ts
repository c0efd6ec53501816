/** The one command: it starts everything on loopback, says what to open, and ends cleanly. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startPlayground } from '../../playground/express/start.ts'
import { sampleCases } from '../_tier.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const children: ChildProcess[] = []
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playground-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

describe('the command', () => {
  for (const signal of sampleCases(['SIGINT', 'SIGTERM'] as const, 2)) {
    it(`prints what to open, and ${signal} ends the app, the provider and open event streams`, async () => {
      const { child, output, url, issuer } = await start({ AUTH_STRATEGY: 'database' })
      expect(output()).toMatch(/Sessions +database/)
      expect((await fetch(url)).status).toBe(200)
      expect(((await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as { issuer: string }).issuer).toBe(issuer)
      const stream = await fetch(`${url}/audit/stream`)

      const ended = new Promise<[number | null, string | null]>((resolve) => child.once('exit', (code, name) => resolve([code, name])))
      child.kill(signal)
      expect(await ended).toEqual([0, null])
      await stream.text().catch(() => '')
      await expect(fetch(url)).rejects.toThrow('fetch failed')
      await expect(fetch(issuer)).rejects.toThrow('fetch failed')
    })
  }

  it('a mistake ends it with the reason', async () => {
    const { child, output } = run({ AUTH_SECRET: 'short' })
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code).toBe(1)
    expect(output()).toContain('MissingSecret')
  })
})

describe('starting', () => {
  const options = { port: 0, opPort: 0, strategy: 'database', quiet: true } as const

  it('takes free ports where the wished ones are taken', async () => {
    const [one, two] = [await occupy(), await occupy()]
    const playground = await startPlayground({ ...options, port: one.port, opPort: two.port, store: 'memory' })
    expect((await fetch(playground.url)).status).toBe(200)
    expect(playground.url).not.toContain(String(one.port))
    expect(playground.issuer).not.toContain(String(two.port))
    await playground.close()
    for (const { server } of [one, two]) await new Promise((resolve) => server.close(resolve))
  })

  it('data and secret survive a restart; the secret is for the owner of the folder alone', async () => {
    const first = await startPlayground({ ...options, store: folder })
    await first.adapter.createUser?.({ id: 'u1', name: 'Una', email: 'una@example.com', emailVerified: null })
    await first.close()
    const secret = await readFile(join(folder, 'secret'), 'utf8')
    expect((await stat(join(folder, 'secret'))).mode & 0o077).toBe(0)

    const second = await startPlayground({ ...options, store: folder })
    expect(await second.adapter.getUserByEmail?.('una@example.com')).toMatchObject({ id: 'u1', name: 'Una' })
    expect(await readFile(join(folder, 'secret'), 'utf8')).toBe(secret)
    await second.close()
  })

  it('a folder that another playground has open is left alone', async () => {
    const { url } = await start({ AUTH_STORE: folder })
    const second = await startPlayground({ ...options, store: folder })
    expect(second.store).toMatch(/^in memory: /)
    expect((await fetch(second.url)).status).toBe(200)
    await second.close()
    expect((await fetch(url)).status).toBe(200)
  })
})

function run(env: Record<string, string>): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, ['scripts/dev.mjs', 'playground/express/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: '0', OP_PORT: '0', AUTH_STORE: 'memory', ...env },
  })
  children.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (text += part))
  return { child, output: () => text }
}

async function start(env: Record<string, string>): Promise<{ child: ChildProcess; output: () => string; url: string; issuer: string }> {
  const { child, output } = run(env)
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', () => output().includes('Ctrl-C') && resolve())
    child.once('exit', () => reject(new Error(`It ended:\n${output()}`)))
  })
  const line = (name: string): string => new RegExp(`${name} +(\\S+)`).exec(output())?.[1] ?? ''
  return { child, output, url: line('Open'), issuer: line('Provider') }
}

async function occupy(): Promise<{ server: Server; port: number }> {
  const server = createServer((_req, res) => res.writeHead(418).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

describe('the launcher of the other playgrounds', () => {
  const server = `const { createServer } = require('node:http'); createServer((_, res) => res.end('up')).listen(Number(process.argv[1]), '127.0.0.1')`
  // As npm does it: a shell between, which passes no signal on.
  const launch = (env: Record<string, string>): { child: ChildProcess; output: () => string } => {
    const child = spawn(
      process.execPath,
      ['scripts/dev.mjs', 'playground/_shared/run.ts', 'sh', '-c', 'node -e "$1" "$0" & wait', ':port', server],
      { cwd: root, env: { ...process.env, ...env } },
    )
    children.push(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += String(chunk)))
    return { child, output: () => text }
  }

  it('starts the server at PORT, prints this address, and its end ends the server and the provider', async () => {
    const { port, server: holder } = await occupy()
    await new Promise((resolve) => holder.close(resolve))
    const { child, output } = launch({ PORT: String(port) })
    const up = async (): Promise<string> => fetch(`http://127.0.0.1:${port}`).then((answer) => answer.text())
    await expect.poll(() => up().catch(() => ''), { timeout: 20_000 }).toBe('up')
    expect(output()).toContain(`http://localhost:${port}\n`)
    const issuer = /Provider +(\S+)/.exec(output())![1]!
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
    await expect(up()).rejects.toThrow('fetch failed')
    await expect(fetch(issuer)).rejects.toThrow('fetch failed')
  })

  it('says that a port is taken', async () => {
    const { port, server: holder } = await occupy()
    const { child, output } = launch({ PORT: String(port) })
    await new Promise((resolve) => child.once('exit', resolve))
    expect(output()).toContain(`Port ${port} is taken. Set PORT to another one.`)
    await new Promise((resolve) => holder.close(resolve))
  })
})
