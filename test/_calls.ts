/** Which functions run while one thing is done: a count does not depend on how busy the machine is, a duration does. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { root } from './_sources.ts'

/** A function that ran, and the file it stands in. */
export interface Call {
  name: string
  file: string
  times: number
}

/**
 * Functions that one call of `work()` touches. `program` is TypeScript that imports the sources and exports `work`;
 * it runs in a process of its own, bundled, with V8's precise coverage switched on after three calls that warm everything up.
 */
export async function callsOf(program: string): Promise<Call[]> {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-calls-'))
  try {
    const bundle = join(folder, 'work.mjs')
    await build({
      stdin: { contents: program, resolveDir: root, loader: 'ts' },
      absWorkingDir: root.replace(/[\\/]$/, ''),
      outfile: bundle,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      logLevel: 'error',
    })
    const runner = join(folder, 'run.mjs')
    writeFileSync(runner, watch)
    const { stdout } = await promisify(execFile)(process.execPath, [runner, bundle], { encoding: 'utf8' })
    const functions = JSON.parse(stdout) as { name: string; offset: number; times: number }[]
    const fileAt = files(readFileSync(bundle, 'utf8'))
    return functions.map(({ name, offset, times }) => ({ name, file: fileAt(offset), times }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const watch = `
import { Session } from 'node:inspector/promises'
import { pathToFileURL } from 'node:url'
const url = pathToFileURL(process.argv[2]).href
const { work } = await import(url)
for (let i = 0; i < 3; i++) await work()
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Profiler.takePreciseCoverage')
await work()
const { result } = await session.post('Profiler.takePreciseCoverage')
const { functions = [] } = result.find((script) => script.url === url) ?? {}
const ran = functions.map(({ functionName, ranges: [range] }) => ({ name: functionName, offset: range.startOffset, times: range.count }))
console.log(JSON.stringify(ran.filter(({ times, offset }) => times > 0 && offset > 0)))
process.exit(0)
`

/** esbuild writes the name of each module above its code. */
function files(bundle: string): (offset: number) => string {
  const marks = [...bundle.matchAll(/^\/\/ (\S+\.[mc]?[jt]s|<stdin>)$/gm)].map(({ index, 1: file = '' }) => ({ index, file }))
  return (offset) => marks.findLast(({ index }) => index < offset)?.file ?? ''
}
