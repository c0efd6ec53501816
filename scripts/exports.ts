/** Refuses a build whose files and `exports` of package.json differ: a consumer would find a name without a file, or a file without a name. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Throws an error that lists every difference. */
export function assertExports(root: string): void {
  const differences = compareExports(root)
  if (differences.length > 0) throw new Error(`package.json "exports" and the built files differ:\n- ${differences.join('\n- ')}`)
}

/** Differences between `exports` and `bin`, the sources that they promise, and the built files. */
export function compareExports(root: string): string[] {
  const { exports, bin, browser } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, Record<string, string> | string | null>
    bin: Record<string, string>
    browser?: Record<string, false>
  }
  const built = files(join(root, 'dist')).map((file) => `./dist/${file}`)
  const programs = new Set(Object.values(bin))
  const named = new Set<string>()
  const differences = [...programs].filter((file) => !built.includes(file)).map((file) => `"bin" names ${file}, which was not built`)

  // What browsers must not get: a chunk of another name would be bundled for them.
  for (const file of Object.keys(browser ?? {})) if (!built.includes(file)) differences.push(`"browser" names ${file}, which was not built`)

  for (const [name, conditions] of Object.entries(exports)) {
    for (const target of typeof conditions === 'string' ? [conditions] : Object.values(conditions ?? {})) {
      if (!target.startsWith('./dist/')) continue
      const matches = target.includes('*') ? built.filter((file) => matchesPattern(file, target)) : [target]
      for (const file of matches) {
        named.add(file)
        if (!built.includes(file)) differences.push(`"${name}" names ${file}, which was not built`)
      }
      if (matches.length === 0) differences.push(`"${name}" names ${target}, and no built file matches`)
    }
  }
  for (const file of built) {
    if (isChunk(file) || programs.has(file)) continue
    if (!named.has(file)) differences.push(`${file} was built, and no name of "exports" leads to it`)
    // Components of Svelte and style sheets are shipped as they are.
    if (/\.(?:svelte|css|css\.d\.mts|json)$/.test(file)) continue
    const twin = file.endsWith('.d.mts') ? file.replace('.d.mts', '.mjs') : file.replace('.mjs', '.d.mts')
    if (!built.includes(twin)) differences.push(`${file} was built without ${twin}`)
  }
  return differences
}

/** Shared code: reached by relative imports only. */
export function isChunk(file: string): boolean {
  return /^\.\/dist\/(shared|chunks)\//.test(file)
}

function matchesPattern(file: string, pattern: string): boolean {
  const [before = '', after = ''] = pattern.split('*')
  const middle = file.slice(before.length, file.length - after.length)
  return file.startsWith(before) && file.endsWith(after) && middle !== '' && !middle.startsWith('_')
}

function files(folder: string): string[] {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .replaceAll('\\', '/'),
        )
    : []
}
