/** An app of `apps/` in two copies: as its users wrote it with Auth.js, and after the move of docs/migrating-from-authjs.md. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { install, run } from '../playground/_app.ts'
import { moved, whole } from './_page.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = join(here, '../..')
const packages = join(here, 'node_modules')

/** An app, and how its users build and start it. Programs are looked up from its folder, as Node does with packages. */
export interface MovingApp {
  /** Folder of `apps/`. */
  name: string
  /** Folder of the repository whose packages the app uses; the copies are made in it. */
  beside: string
  /** Whether its package of Auth.js comes from this folder's lock file. */
  borrows?: boolean
  builds: readonly (readonly string[])[]
  /** Run in `beside` first: makes the files that its TypeScript configuration extends. */
  sync?: readonly string[]
}
/** Folders of the copies, and how to remove them. */
export interface Copies {
  before: string
  after: string
  remove(): void
}

/** Makes and builds both copies. */
export function prepare({ name, beside, borrows = false, builds, sync }: MovingApp): Copies {
  const home = join(root, beside)
  if (!existsSync(packages)) run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], here)
  if (!existsSync(join(home, 'node_modules'))) run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], home)
  if (sync) run(process.execPath, [...sync], home)
  // A folder that git and the linters do not see.
  const work = join(home, '.migration')
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work)
  writeFileSync(join(work, '.gitignore'), '*\n')
  const [before, after] = [join(work, 'before'), join(work, 'after')]

  cpSync(join(here, 'apps', name), before, { recursive: true })
  if (borrows) cpSync(packages, join(before, 'node_modules'), { recursive: true })
  make(before, builds)

  writeMoved(name, after)
  installPackage(after, home)
  make(after, builds)
  return { before, after, remove: () => rmSync(work, { recursive: true, force: true }) }
}

/** Builds a copy and checks its types: the swap must compile, too. */
function make(folder: string, builds: MovingApp['builds']): void {
  for (const build of builds) run(process.execPath, [...build], folder)
  run(process.execPath, [join(root, 'node_modules/typescript-7/bin/tsc'), '--noEmit', '-p', '.'], folder)
}

/** The app as the page makes it. */
export function writeMoved(name: string, target: string): void {
  const source = join(here, 'apps', name)
  for (const file of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = relative(source, join(file.parentPath, file.name))
    const code = readFileSync(join(source, path), 'utf8')
    const fresh = path === 'package.json' ? withAuthkernel(code) : moved(`${name}/${path}`, code)
    write(join(target, path), fresh)
  }
  for (const [path, code] of whole) if (path.startsWith(`${name}/`)) write(join(target, path.slice(name.length + 1)), code)
}

/** What `npm install authkernel` does. */
function withAuthkernel(text: string): string {
  const json = JSON.parse(text) as { dependencies?: object }
  return JSON.stringify({ ...json, dependencies: { ...json.dependencies, authkernel: '*' } }, null, 2)
}

function installPackage(after: string, home: string): void {
  install(after)
  process.env.AUTHKERNEL_BUILT = '1'
  // Versions of its dependencies that differ from those of the app beside.
  const own = join(home, 'node_modules/authkernel/node_modules')
  if (existsSync(own)) cpSync(own, join(after, 'node_modules/authkernel/node_modules'), { recursive: true })
}

function write(file: string, code: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, code)
}
