/** The API reference: TypeDoc writes a Markdown page for every public module of the package, and fails when an exported name has no sentence. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { pluginFiles } from '../scripts/plugins.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The part of TypeDoc that is used here: the package is installed for the site alone, and the types of this repository are checked without it. */
interface Reflection {
  name: string
  variant: string
  children?: Reflection[]
  signatures?: Reflection[]
  hasComment(): boolean
}
interface TypeDoc {
  Application: {
    bootstrapWithPlugins(options: object): Promise<{
      convert(): Promise<Reflection | undefined>
      generateOutputs(project: Reflection): Promise<void>
      logger: { hasErrors(): boolean }
    }>
  }
}

/** Name of each public module, without `authkernel/`, and the file that it is compiled from. Presets of providers have pages of their own in docs/providers. */
export function publicModules(): Map<string, string> {
  const parts = ['kernel', 'jwt', 'errors', 'client', 'parts', 'react', 'vue', 'solid', 'svelte', 'testing']
  const bindings = readdirSync(join(root, 'bindings')).filter((file) => file.endsWith('.ts') && !file.startsWith('_'))
  return new Map([
    ['authkernel', 'src/index.ts'],
    // Before `kernel`, whose type `Mail` would take the name of the page `kernel/mail`.
    ...readdirSync(join(root, 'src/kernel/entries')).map((file) => [`kernel/${file.slice(0, -3)}`, `src/kernel/entries/${file}`] as const),
    ...parts.map((name) => [name, `src/${name}/index.ts`] as const),
    ...[...pluginFiles()].sort().map(([name, file]) => [`plugins/${name}`, file] as const),
    ...bindings.map((file) => [`bindings/${file.slice(0, -3)}`, `bindings/${file}`] as const),
  ])
}

/** Writes the pages to a folder and answers how many names they describe. Throws with the names that have no sentence. */
export async function writeApi(folder: string, modules: ReadonlyMap<string, string> = publicModules()): Promise<number> {
  const typedoc = createRequire(import.meta.url).resolve('typedoc')
  const { Application } = (await import(pathToFileURL(typedoc).href)) as TypeDoc
  const options = {
    entryPoints: [...modules.values()].map((file) => join(root, file)),
    tsconfig: join(root, 'tsconfig.json'),
    basePath: root,
    sortEntryPoints: false,
    plugin: ['typedoc-plugin-markdown'],
    outputs: [{ name: 'markdown', path: folder }],
    outputFileStrategy: 'modules',
    entryFileName: 'README',
    readme: 'none',
    name: 'API of every module',
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    enumMembersFormat: 'table',
    skipErrorChecking: true,
    logLevel: 'Warn',
  }
  const app = await Application.bootstrapWithPlugins(options)
  const project = await app.convert()
  if (!project) throw new Error('TypeDoc could not read the sources.')
  const names = new Map([...modules].map(([name, file]) => [file.replace(/(\/index)?\.ts$/, ''), name]))
  for (const module of project.children ?? []) module.name = names.get(module.name) ?? module.name
  const silent = withoutSentence(project)
  if (silent.length > 0) throw new Error(`These exports have no sentence in their comment:\n${silent.join('\n')}`)
  await app.generateOutputs(project)
  if (app.logger.hasErrors()) throw new Error('TypeDoc could not write the pages. Its messages are above.')
  withoutDeadAnchors(folder)
  return (project.children ?? []).flatMap(declared).length
}

/** Exported names whose comment is empty, as `module: name`. A name that is exported again has its sentence where it is declared. */
function withoutSentence(project: Reflection): string[] {
  const described = (it: Reflection): boolean => it.hasComment() || (it.signatures ?? []).some((signature) => signature.hasComment())
  return (project.children ?? []).flatMap((module) =>
    declared(module)
      .filter((it) => !described(it))
      .map((it) => `${module.name}: ${it.name}`),
  )
}

function declared(module: Reflection): Reflection[] {
  return (module.children ?? []).filter(({ variant }) => variant === 'declaration')
}

// A row of a table has no anchor in Markdown: links to a property lead to its page.
function withoutDeadAnchors(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(folder, name), 'utf8')
    const links = /\[([^\]]*)\]\(([^)#\s]*)#property-[\w-]+\)/g
    writeFileSync(
      join(folder, name),
      text.replace(links, (_link, label: string, path: string) => (path === '' ? label : `[${label}](${path})`)),
    )
  }
}
