/**
 * The documentation site from a fresh clone on: `npm run docs` serves docs/ and follows changes, `npm run docs build` writes `site/dist` with the API reference
 * and screenshots, `npm run docs preview` serves what was built, `npm run docs release` builds every version. VitePress has a package of its own in `site/`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stage } from '../site/stage.ts'
import { type Version, versionsOf } from '../site/versions.ts'
import { run } from './install.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const site = join(root, 'site')
const base = process.env.DOCS_BASE ?? '/'
const dist = process.env.DOCS_OUT ?? join(site, 'dist')

async function main([command = 'dev', ...rest]: string[]): Promise<number> {
  if (!['dev', 'build', 'preview', 'release'].includes(command)) {
    console.error('Usage: npm run docs [dev | build | preview | release]')
    return 1
  }
  if (!existsSync(join(site, 'node_modules/typedoc'))) {
    console.log('Installing VitePress and TypeDoc (once, a few seconds) ...')
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], site)
  }
  if (command === 'release') return release()
  return command === 'build' ? build(rest) : vitepress(command, rest, {})
}

async function build(rest: readonly string[]): Promise<number> {
  const folder = process.env.DOCS_STAGE ?? join(site, '.vitepress/cache/docs')
  console.log(await stage(folder))
  return vitepress('build', rest, { DOCS_DIR: folder })
}

/** Each version is built by the code of its tag, in a worktree of its own, with the packages that it names. */
async function release(): Promise<number> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const tags = execFileSync('git', ['tag'], { cwd: root, encoding: 'utf8' }).split('\n')
  const versions = versionsOf(tags, version)
  // The root first: a build empties its folder.
  for (const { name, folder, tag } of [...versions].sort((a, b) => a.folder.length - b.folder.length)) {
    console.log(`== ${name}`)
    const env = { DOCS_BASE: base + folder, DOCS_ROOT: base, DOCS_OUT: join(dist, folder), DOCS_VERSION: name }
    const code = tag === undefined ? await npm(root, env) : await ofTag(tag, env)
    if (code !== 0) return code
  }
  writeFileSync(join(dist, 'versions.json'), JSON.stringify(versions.map(({ name, folder }: Version) => ({ name, path: base + folder }))))
  return 0
}

async function ofTag(tag: string, env: Record<string, string>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-docs-'))
  try {
    run('git', ['worktree', 'add', '--detach', '--force', folder, tag], root)
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], folder)
    return await npm(folder, env)
  } finally {
    run('git', ['worktree', 'remove', '--force', folder], root)
    rmSync(folder, { recursive: true, force: true })
  }
}

function npm(folder: string, env: Record<string, string>): Promise<number> {
  return follow('npm', ['run', '--silent', 'docs', 'build'], folder, env)
}

function vitepress(command: string, rest: readonly string[], env: Record<string, string>): Promise<number> {
  return follow(process.execPath, [join(site, 'node_modules/vitepress/bin/vitepress.js'), command, site, ...rest], root, env)
}

function follow(command: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<number> {
  const child = spawn(command, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } })
  return new Promise((resolve, reject) => child.on('error', reject).on('exit', (code) => resolve(code ?? 1)))
}

process.exitCode = await main(process.argv.slice(2))
