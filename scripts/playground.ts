/**
 * One command for each playground, from a fresh clone on: `npm run playground sveltekit`. Builds the package, installs the app and starts it among a
 * real OpenID Provider and a mailbox; each step only where it is due. Names: folders of `playground/`, and the servers of `playground/small`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runGroup } from '../playground/_shared/group.ts'
import { install, run } from './install.ts'
import { age, isStale } from './stale.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const small = Object.keys(scriptsOf('small')).filter((name) => existsSync(join(root, 'playground/small', `${name}.ts`)))
const names = [
  ...readdirSync(join(root, 'playground')).filter((name) => existsSync(join(root, 'playground', name, 'package.json'))),
  ...small,
].filter((name) => name !== 'small')

const [name = ''] = process.argv.slice(2)
if (name === 'express') start(root, 'dev')
else if (names.includes(name)) {
  const home = join(root, 'playground', small.includes(name) ? 'small' : name)
  prepare(home)
  start(home, small.includes(name) ? name : 'dev')
} else {
  console.error(`Usage: npm run playground <name>, one of: ${['express', ...names].join(', ')}`)
  process.exitCode = 1
}

function prepare(home: string): void {
  // The folder, for what npm packs has one date for ever.
  const [built, installed] = [join(root, 'dist/index.mjs'), join(home, 'node_modules/authkernel')]
  if (!existsSync(join(home, 'node_modules'))) {
    if (isStale()) run(process.execPath, ['node_modules/unbuild/dist/cli.mjs'], root)
    console.log(`Installing ${home.slice(root.length)} (once, a minute or two) ...`)
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], home)
    return
  }
  const stale = isStale()
  if (!stale && age(installed) > age(built) && existsSync(join(installed, 'dist'))) return
  if (stale) console.log('Building authkernel ...')
  install(home, !stale)
}

function start(home: string, script: string): void {
  void runGroup('npm', ['run', '--silent', script], { cwd: home }).then((code) => process.exit(code))
}

function scriptsOf(folder: string): Record<string, string> {
  return (JSON.parse(readFileSync(join(root, 'playground', folder, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts
}
