/** `authkernel init`: makes an app ready to sign users in. Shows what it would write first; repeated runs change nothing. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { providerIds } from '../provider.ts'
import { type Report, type Setting, UsageError } from '../report.ts'
import { authPath } from './auth-module.ts'
import { showChange } from './diff.ts'
import { factoryOf } from './factories.ts'
import { type Change, readProjectFile } from './files.ts'
import { envFile, plan } from './plan.ts'
import { lookAt, type Project } from './project.ts'
import { answersOf, confirmChanges, type Flags } from './questions.ts'

/** Options of the command. */
export interface InitOptions extends Flags {
  framework?: string | undefined
  yes?: boolean | undefined
  install?: boolean | undefined
}

export async function init(options: InitOptions, setting: Setting): Promise<Report> {
  const project = lookAt(setting.cwd, options.framework)
  const asks = setting.ask !== undefined && options.yes !== true
  // Questions are about the module: one that is there has answered them.
  const answers = await answersOf(options, project, providerIds(), asks && readProjectFile(project, authPath(project)) === null)
  const { changes, packages, notes } = plan(project, answers)
  const data = {
    framework: project.framework,
    typescript: project.typescript,
    manager: project.manager,
    ...answers,
    files: changes.map(({ path }) => path),
    packages,
    notes,
  }
  if (changes.length === 0 && packages.length === 0)
    return { data: { ...data, written: false }, lines: [...notes, setting.paint.good('Everything is there already.')] }
  const shown = changes.flatMap((change) => showChange(change, setting.paint))
  if (!(await askAgreement(options.yes === true, shown, setting))) {
    return {
      data: { ...data, written: false },
      lines: asks ? ['Nothing was written.'] : [...shown, 'Nothing was written. Add --yes to write these files.'],
    }
  }
  writeChanges(project.cwd, changes)
  const installs = packages.length > 0 && options.install !== false
  if (installs) installPackages(project, packages)
  return {
    data: { ...data, written: true },
    lines: [
      ...(asks ? [] : shown),
      ...notes.map((note) => `${setting.paint.warn('to do')} ${note}`),
      ...nextSteps(project, changes, installs ? [] : packages, answers.store),
    ],
  }
}

/** Shows the changes to a user and asks. */
export async function askAgreement(yes: boolean, shown: readonly string[], { ask }: Setting): Promise<boolean> {
  if (yes || !ask) return yes
  ask(shown.join('\n'))
  return confirmChanges()
}

export function writeChanges(cwd: string, changes: readonly Change[]): void {
  for (const { path, after, before, secret } of changes) {
    const file = join(cwd, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, after, secret && before === null ? { mode: 0o600 } : {})
  }
}

export function installPackages({ cwd, manager }: Pick<Project, 'cwd' | 'manager'>, packages: readonly string[]): void {
  try {
    execFileSync(manager, [manager === 'npm' ? 'install' : 'add', ...packages], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: process.platform === 'win32',
    })
  } catch (error) {
    const said = (error as { stderr?: Buffer }).stderr?.toString().trim() ?? String(error)
    throw new UsageError(
      `The files were written, but "${manager} ${manager === 'npm' ? 'install' : 'add'} ${packages.join(' ')}" failed: ${said}`,
    )
  }
}

function nextSteps(project: Project, changes: readonly Change[], packages: readonly string[], store: string): string[] {
  const { framework, manager, typescript, namesTs } = project
  const env = envFile(project)
  const own = authPath(project)
  const server = changes.find(({ path }) => /\.m?[jt]s$/.test(path) && path !== own)?.path
  const run = `${typescript && !namesTs ? 'npx tsx' : 'node'} --env-file=${env} ${server ?? '<your server>'}`
  const factory = factoryOf(framework)
  const { base, port } = factory ?? { base: '/auth', port: 3000 }
  const steps = [
    ...(packages.length > 0 ? [`${manager} ${manager === 'npm' ? 'install' : 'add'} ${packages.join(' ')}`] : []),
    ...(store === 'postgres' || store === 'mysql' ? [`Set DATABASE_URL in ${env}, then: npx authkernel migrate --apply`] : []),
    factory ? `${manager} run dev` : run,
    `Open http://localhost:${port}${base}/signin`,
    'npx authkernel doctor says what is missing. In production set AUTH_URL.',
  ]
  const kept = store === 'none' ? [] : ['Users and sessions are kept in the database.']
  return [...kept, 'Next:', ...steps.map((step, i) => `  ${i + 1}. ${step}`)]
}
