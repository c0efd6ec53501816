/** `authkernel codemod next-auth-4`: shows how the sources of an app change, and writes it. Repeated runs change nothing. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { showChange } from '../init/diff.ts'
import { askAgreement, writeChanges } from '../init/init.ts'
import { providerIds } from '../provider.ts'
import { type Report, type Setting, UsageError } from '../report.ts'
import { createModules } from './module-paths.ts'
import { rewriteApp } from './next-auth-4.ts'
import { type Oxc, scanFile } from './scan.ts'

/** Options of the command. */
export interface CodemodOptions {
  name?: string | undefined
  yes?: boolean | undefined
}

const skippedFolders = new Set(['node_modules', 'dist', 'build', 'out', 'coverage'])

/** Throws UsageError for an unknown name, and without the package oxc-parser. */
export async function codemod({ name, yes }: CodemodOptions, setting: Setting): Promise<Report> {
  if (name !== 'next-auth-4') throw new UsageError(`There is no codemod "${name ?? ''}". Known: next-auth-4.`)
  const parser = await loadParser()
  const { cwd, paint } = setting
  const paths = listSources(cwd)
  const modules = createModules(cwd, new Set(paths))
  const texts = paths.map((path) => ({ path, text: readFileSync(join(cwd, path), 'utf8') }))
  const unreadable: string[] = []
  const files = texts
    // The second: options that are imported from the file of the route.
    .filter(({ text }) => text.includes('next-auth') || text.includes('[...nextauth]'))
    .flatMap(({ path, text }) => {
      const file = scanFile(parser, path, text)
      if (!file) unreadable.push(`${path} cannot be parsed.`)
      return file ?? []
    })
  const { changes, removed, notes } = rewriteApp(files, modules, new Set(providerIds()))
  const all = [...notes, ...unreadable]
  const data = { changes: changes.map(({ path }) => path), removed, notes: all }
  const byHand = all.length > 0 ? ['By hand:', ...all.map((note) => `  - ${note}`)] : []
  if (changes.length === 0) return { data: { ...data, written: false }, lines: ['Nothing to change.', ...byHand] }
  const shown = [...changes.flatMap((change) => showChange(change, paint)), ...removed.map((path) => paint.strong(`removed ${path}`))]
  if (!(await askAgreement(yes === true, shown, setting)))
    return {
      data: { ...data, written: false },
      lines: [...(setting.ask ? [] : shown), ...byHand, 'Nothing was written. Add --yes to write it.'],
    }
  writeChanges(cwd, changes)
  for (const path of removed) rmSync(join(cwd, path))
  const next = ['Next: npm install authkernel, build your app, and sign in. docs/migrating-from-nextauth-4.md has what else differs.']
  return { data: { ...data, written: true }, lines: [...(setting.ask && !yes ? [] : shown), ...byHand, ...next] }
}

async function loadParser(): Promise<Oxc> {
  try {
    return await import('oxc-parser')
  } catch (error) {
    throw new UsageError('The codemod needs the package oxc-parser: npm install --save-dev oxc-parser.', { cause: error })
  }
}

/** Sources below the folder, with `/` between the parts. */
function listSources(cwd: string): string[] {
  const found: string[] = []
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name.startsWith('.') || skippedFolders.has(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) visit(path)
      else if (/\.(?:[jt]sx?|m[jt]s)$/.test(entry.name)) found.push(relative(cwd, path).replaceAll('\\', '/'))
    }
  }
  visit(cwd)
  return found.sort()
}
