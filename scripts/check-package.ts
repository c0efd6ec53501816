/** Packs what was built and lets publint and attw judge the tarball, every plugin and binding included. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'authkernel-pack-'))
try {
  run('npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder)
  const [tarball = ''] = readdirSync(folder)
  node('publint/src/cli.js', 'run', '--strict', join(folder, tarball))
  // attw does not look behind a `*` by itself. Providers are all alike: one stands for them.
  const entries = [...entriesOf('plugins'), ...entriesOf('bindings'), './providers/github']
  node(
    '@arethetypeswrong/cli/dist/index.js',
    join(folder, tarball),
    '--profile',
    'esm-only',
    '--no-color',
    '--format',
    'ascii',
    '--include-entrypoints',
    ...entries,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function entriesOf(kind: string): string[] {
  return readdirSync(join(root, 'dist', kind))
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => `./${kind}/${file.slice(0, -4)}`)
}

function node(program: string, ...args: string[]): void {
  run(process.execPath, join(root, 'node_modules', program), ...args)
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32' && command === 'npm',
  })
}
