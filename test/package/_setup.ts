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
  }
}

export default function setup(project: TestProject): () => void {
  // .ci/run has built just before.
  if (!process.env.AUTHKERNEL_BUILT)
    execFileSync(process.execPath, ['node_modules/unbuild/dist/cli.mjs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  const consumer = mkdtempSync(join(tmpdir(), 'authkernel-consumer-'))
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
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  // Optional peers are left out on purpose: whoever does not use them must not need them, at run time or in types.
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) link(consumer, name)
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  project.provide('consumer', consumer)
  project.provide(
    'packed',
    files.map(({ path }) => path),
  )
  return () => rmSync(consumer, { recursive: true, force: true })
}

/** Makes an installed package of this repository available to the consumer. */
export function link(consumer: string, name: string): void {
  const target = join(consumer, 'node_modules', name)
  mkdirSync(dirname(target), { recursive: true })
  if (!existsSync(target)) symlinkSync(join(root, 'node_modules', name), target, 'junction')
}
