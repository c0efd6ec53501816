/**
 * The documentation site from a fresh clone on: `npm run docs` serves docs/ and follows changes, `npm run docs build` writes `site/dist`,
 * `npm run docs preview` serves what was built. VitePress has a package of its own in `site/`, so that nobody else installs it.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './install.ts'

const site = fileURLToPath(new URL('../site/', import.meta.url))
const [command = 'dev', ...rest] = process.argv.slice(2)
if (['dev', 'build', 'preview'].includes(command)) {
  if (!existsSync(join(site, 'node_modules'))) {
    console.log('Installing VitePress (once, a few seconds) ...')
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], site)
  }
  const child = spawn(process.execPath, [join(site, 'node_modules/vitepress/bin/vitepress.js'), command, site, ...rest], {
    stdio: 'inherit',
  })
  child.on('exit', (code) => (process.exitCode = code ?? 1))
} else {
  console.error('Usage: npm run docs [dev | build | preview]')
  process.exitCode = 1
}
