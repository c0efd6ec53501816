/** `authkernel add <name>`: puts a plugin or a provider of the package into the auth module. Repeated runs change nothing. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { didYouMean } from 'authkernel/kernel'
import { findModule } from '../load.ts'
import { packageRoot } from '../package.ts'
import { providerIds } from '../provider.ts'
import { type Report, type Setting, UsageError } from '../report.ts'
import { importName } from './auth-module.ts'
import { showChange } from './diff.ts'
import { askAgreement, installPackages, writeChanges } from './init.ts'
import { lookAt } from './project.ts'
import { type Addition, addTo } from './source.ts'
import { type Change, readProjectFile } from './files.ts'

/** Options of the command. */
export interface AddOptions {
  name?: string | undefined
  auth?: string | undefined
  yes?: boolean | undefined
  install?: boolean | undefined
}

interface Entry extends Addition {
  packages?: readonly string[]
  /** Variables to set. */
  variables?: readonly string[]
  note?: string
}

const store = 'It keeps its data in the store: give createAuth an `adapter` when it has none, then `npx authkernel migrate --apply`.'
const own: Readonly<Record<string, Entry>> = {
  passkeys: {
    import: "import { webauthnPlugin } from 'authkernel/plugins/webauthn'",
    plugin: 'webauthnPlugin()',
    packages: ['@simplewebauthn/server'],
    note: store,
  },
  email: {
    import: "import { emailPlugin } from 'authkernel/plugins/email'",
    plugin: 'emailPlugin({ server: process.env.EMAIL_SERVER, from: process.env.EMAIL_FROM })',
    packages: ['nodemailer'],
    variables: ['EMAIL_SERVER', 'EMAIL_FROM'],
    note: store,
  },
}
const alias: Readonly<Record<string, string>> = { passkey: 'passkeys', webauthn: 'passkeys', nodemailer: 'email', magic: 'email' }
// They need options or wrap an adapter, so that a line that is written by a command would not do.
const byHand = new Set(
  'adapter memory sql unstorage encrypt-tokens hash-session-tokens credentials oauth oidc tenants records pages mail session-jwt session-database'.split(
    ' ',
  ),
)

/** Throws UsageError for a name that the package does not bring, and where no auth module is found. */
export async function add(options: AddOptions, setting: Setting): Promise<Report> {
  const { name } = options
  const names = [...new Set([...Object.keys(own), ...pluginNames().filter((each) => !byHand.has(each)), ...providerIds()])]
  if (name === undefined) return { data: { names }, lines: [names.join(', '), '', 'authkernel add <name> puts one into your auth module.'] }
  const entry = entryOf(name)
  if (!entry) {
    const page = byHand.has(name) ? ` "${name}" needs your options: see docs/plugins/${name}.md.` : didYouMean(name, names)
    throw new UsageError(`There is nothing called "${name}" to add.${page} \`authkernel add\` lists all.`)
  }
  const path = relative(setting.cwd, findModule(options.auth, setting.cwd)).replaceAll('\\', '/')
  const before = readProjectFile(setting, path) ?? ''
  const after = addTo(before, entry, path)
  const project = existsSync(`${setting.cwd}/package.json`) ? readManifest(setting) : undefined
  const packages = (entry.packages ?? []).filter((each) => project && !project.packages.has(each))
  const data = { name, file: path, packages, variables: entry.variables ?? [] }
  const { good } = setting.paint
  if (after === before && packages.length === 0)
    return { data: { ...data, written: false }, lines: [good(`${name} is in ${path} already.`)] }
  const changes: Change[] = after === before ? [] : [{ path, before, after }]
  const shown = changes.flatMap((change) => showChange(change, setting.paint))
  if (!(await askAgreement(options.yes === true, shown, setting)))
    return { data: { ...data, written: false }, lines: [...(setting.ask ? [] : shown), 'Nothing was written. Add --yes to write it.'] }
  writeChanges(setting.cwd, changes)
  const installs = project !== undefined && packages.length > 0 && options.install !== false
  if (installs) installPackages(project, packages)
  const steps = [
    ...(packages.length > 0 && !installs ? [`${project?.manager ?? 'npm'} install ${packages.join(' ')}`] : []),
    ...(data.variables.length > 0 ? [`Set ${data.variables.join(', ')} in your environment.`] : []),
    ...(entry.note ? [entry.note] : []),
    'npx authkernel doctor says what is missing.',
  ]
  return {
    data: { ...data, written: true },
    lines: [...(setting.ask && !options.yes ? [] : shown), 'Next:', ...steps.map((step, i) => `  ${i + 1}. ${step}`)],
  }
}

function entryOf(name: string): Entry | undefined {
  const known = own[alias[name] ?? name]
  if (known) return known
  if (providerIds().includes(name)) {
    const call = importName(name)
    const prefix = `AUTH_${name.toUpperCase().replaceAll('-', '_')}`
    return {
      import: `import ${call} from 'authkernel/providers/${name}'`,
      provider: `${call}()`,
      variables: [`${prefix}_ID`, `${prefix}_SECRET`],
    }
  }
  if (byHand.has(name) || !pluginNames().includes(name)) return undefined
  const factory = `${importName(name)}Plugin`
  return { import: `import { ${factory} } from 'authkernel/plugins/${name}'`, plugin: `${factory}()` }
}

function readManifest({ cwd }: Pick<Setting, 'cwd'>): ReturnType<typeof lookAt> | undefined {
  try {
    return lookAt(cwd)
  } catch {
    // Another framework: npm installs for it.
    const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(`${cwd}/package.json`, 'utf8')) as Record<string, object>
    return { ...lookAt(cwd, 'express'), packages: new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]) }
  }
}

/** Names of the plugins: from the built files, or in the repository from the sources. */
function pluginNames(): string[] {
  const built = new URL('dist/plugins/', packageRoot())
  const groups = new URL('plugins/', packageRoot())
  const names = existsSync(groups)
    ? readdirSync(groups)
        .filter((group) => group !== 'providers')
        .flatMap((group) => readdirSync(new URL(`${group}/`, groups)))
    : readdirSync(built).flatMap((file) => (file.endsWith('.mjs') ? file.slice(0, -4) : []))
  return [...new Set(names.map((name) => name.replace(/\.ts$/, '')))].sort()
}
