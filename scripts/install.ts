/** The package of this repository in the node_modules of an app, as a release would lie there. */
import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The package as `npm install` lays it out: its files alone, beside its dependencies. */
export function install(home: string, built: boolean = Boolean(process.env.AUTHKERNEL_BUILT)): void {
  const target = join(home, 'node_modules', 'authkernel')
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-pack-'))
  try {
    if (!built) run(process.execPath, ['node_modules/unbuild/dist/cli.mjs'], root)
    const output = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)
    const [{ filename }] = JSON.parse(output.slice(output.indexOf('['))) as [{ filename: string }]
    // npm links local folders unless `install-links` says otherwise: what follows would empty the repository itself.
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(target)
    mkdirSync(target, { recursive: true })
    // Dependencies of which the app has other versions lie inside.
    for (const name of readdirSync(target)) if (name !== 'node_modules') rmSync(join(target, name), { recursive: true, force: true })
    run('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1'], root)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command to its end. Throws with what it said. */
export function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, env: clean(), encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed in ${cwd}:\n${`${stdout}\n${stderr}`.slice(-6_000)}`, { cause: error })
  }
}

/** Without what vitest says about itself: frameworks build something else for tests. */
export function clean(): Record<string, string | undefined> {
  const {
    VITEST: _vitest,
    NODE_ENV: _env,
    TEST: _test,
    VITE_USER_NODE_ENV: _vite,
    DEV: _dev,
    PROD: _prod,
    SSR: _ssr,
    MODE: _mode,
    ...rest
  } = process.env
  return { ...rest, CI: 'true', NEXT_TELEMETRY_DISABLED: '1' }
}
