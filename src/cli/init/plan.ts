/** Everything that `init` would do to a project, as data. */
import { randomBytes } from 'node:crypto'
import { type Answers, authModule, authPath, variablesOf } from './auth-module.ts'
import { factoryOf } from './factories.ts'
import { type Change, readProjectFile } from './files.ts'
import type { Project } from './project.ts'
import { wireProject } from './wiring.ts'

export interface Plan {
  changes: Change[]
  /** Packages to install. */
  packages: string[]
  /** What a user must do manually. */
  notes: string[]
}

/** The auth module, the app's side of it, the secret, and what the store needs. Empty for a project where all is done. */
export function plan(project: Project, answers: Answers): Plan {
  const path = authPath(project)
  const changes: Change[] = []
  const isNew = readProjectFile(project, path) === null
  if (isNew) changes.push({ path, before: null, after: authModule(project, answers) })
  const wiring = wireProject(project)
  changes.push(...wiring.changes, ...planEnvironment(project, isNew ? answers : { providers: [], store: 'none' }))
  const fresh = wiring.changes.some((change) => /server\.m?[jt]s$/.test(change.path) && change.before === null)
  return { changes, packages: packagesOf(project, isNew ? answers : undefined, fresh), notes: wiring.notes }
}

/** The file that holds the secret. */
export function envFile({ framework }: Project): string {
  return factoryOf(framework)?.envFile ?? '.env.local'
}

function planEnvironment(project: Project, answers: Answers): Change[] {
  const path = envFile(project)
  const known = [readProjectFile(project, '.env'), readProjectFile(project, '.env.local')].join('\n')
  const has = (name: string): boolean => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`, 'm').test(known)
  const wanted: [string, string][] = [['AUTH_SECRET', randomBytes(33).toString('base64')], ...variablesOf(answers)]
  const missing = wanted.filter(([name]) => !has(name))
  if (missing.length === 0) return []
  const before = readProjectFile(project, path)
  const start = before === null || before === '' || before.endsWith('\n') ? (before ?? '') : `${before}\n`
  const change = { path, before, after: start + missing.map(([name, value]) => `${name}="${value}"\n`).join(''), secret: true }
  return [change, ...planGitignore(project, path)]
}

/** A line in .gitignore, so that git does not take the secret. Where there is none, the packages are in it too. */
function planGitignore(project: Project, path: string): Change[] {
  const before = readProjectFile(project, '.gitignore')
  const lines = (before ?? '').split('\n').map((line) => line.trim().replace(/^\//, ''))
  if (lines.some((line) => [path, '.env*', '.env.*', '*.local', '.env*.local'].includes(line) && (line !== '.env.*' || path !== '.env')))
    return []
  const start = before === null ? 'node_modules\n' : before === '' || before.endsWith('\n') ? before : `${before}\n`
  return [{ path: '.gitignore', before, after: `${start}${path}\n` }]
}

function packagesOf({ framework, packages }: Project, answers: Answers | undefined, fresh: boolean): string[] {
  const ofStore = { none: [], sqlite: ['kysely', '@libsql/client'], postgres: ['kysely', 'pg'], mysql: ['kysely', 'mysql2'] }
  const wanted = ['authkernel', ...ofStore[answers?.store ?? 'none'], ...(fresh && framework === 'hono' ? ['@hono/node-server'] : [])]
  return wanted.filter((name) => !packages.has(name))
}
