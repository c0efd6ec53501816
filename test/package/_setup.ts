/** Builds and packs once, and lays the tarball out as an installed package in a folder of its own, beside nothing but its dependencies. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

const root = fileURLToPath(new URL('../../', import.meta.url))

declare module 'vitest' {
  interface ProvidedContext {
    /** A project with the packed tarball in node_modules. */
    consumer: string
    /** Files in the tarball. */
    packed: string[]
    /** Why there is no tarball; the other tests of the run go on without it. */
    fault: string
  }
}

export default function setup(project: TestProject): () => void {
  const consumer = mkdtempSync(join(tmpdir(), 'authkernel-consumer-'))
  let packed: string[] = []
  let fault = ''
  try {
    // .ci/run has built just before.
    if (!process.env.AUTHKERNEL_BUILT)
      execFileSync(process.execPath, ['node_modules/unbuild/dist/cli.mjs'], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
    packed = pack(consumer)
    layOut(consumer)
  } catch (error) {
    fault = `the package could not be built and packed: ${(error as { stderr?: string }).stderr || String(error)}`
  }
  project.provide('consumer', consumer)
  project.provide('packed', packed)
  project.provide('fault', fault)
  return () => rmSync(consumer, { recursive: true, force: true })
}

function pack(consumer: string): string[] {
  const output = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', consumer], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  })
  const [{ filename, files }] = JSON.parse(output.slice(output.indexOf('['))) as [{ filename: string; files: { path: string }[] }]
  const home = join(consumer, 'node_modules', 'authkernel')
  mkdirSync(home, { recursive: true })
  execFileSync('tar', ['-xzf', join(consumer, filename), '-C', home, '--strip-components=1'])
  return files.map(({ path }) => path)
}

// Optional peers are left out on purpose: an app that does not use them must not need them, at run time or in types.
function layOut(consumer: string): void {
  const { dependencies } = JSON.parse(readFileSync(join(consumer, 'node_modules/authkernel/package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) link(consumer, name)
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
}

/** Makes an installed package of this repository available to the consumer. */
function link(consumer: string, name: string): void {
  const target = join(consumer, 'node_modules', name)
  mkdirSync(dirname(target), { recursive: true })
  if (!existsSync(target)) symlinkSync(join(root, 'node_modules', name), target, 'junction')
}
