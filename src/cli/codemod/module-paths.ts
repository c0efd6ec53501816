/** Which file a module name means, and how another file names it. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** The files of a project, by paths with `/` below it. */
export interface Modules {
  /** Path of the file; undefined: it is a package, or not there. */
  resolve(from: string, name: string): string | undefined
  /** A name for `to` in the style of `like`. */
  nameOf(from: string, to: string, like?: string): string
}

const endings = ['', '.ts', '.tsx', '.mts', '.js', '.jsx', '.mjs', '/index.ts', '/index.tsx', '/index.js']

export function createModules(cwd: string, paths: ReadonlySet<string>): Modules {
  const alias = aliasOf(cwd)
  return {
    resolve(from, name) {
      const base = name.startsWith('.')
        ? posix.join(posix.dirname(from), name)
        : alias !== undefined && name.startsWith('@/')
          ? posix.join(alias, name.slice(2))
          : undefined
      if (base === undefined) return undefined
      return endings.map((ending) => base + ending).find((path) => paths.has(path))
    },
    nameOf(from, to, like = '@/') {
      const bare = to.replace(/\.[cm]?[jt]sx?$/, '')
      if (alias !== undefined && like.startsWith('@/') && bare.startsWith(alias)) return `@/${bare.slice(alias.length)}`
      const relative = posix.relative(posix.dirname(from), bare)
      return relative.startsWith('.') ? relative : `./${relative}`
    },
  }
}

/** What `@/*` means: a folder with `/` behind it, '' for the project itself; undefined: nothing. */
function aliasOf(cwd: string): string | undefined {
  for (const name of ['tsconfig.json', 'jsconfig.json']) {
    const file = join(cwd, name)
    // The file may have comments, which JSON.parse does not take.
    const found = existsSync(file) ? /"@\/\*"\s*:\s*\[\s*"(?:\.\/)?([^"*]*)\*"/.exec(readFileSync(file, 'utf8')) : null
    if (found) return found[1]
  }
  return undefined
}

/** A relative module name of a file that moved. */
export function moveName(name: string, from: string, to: string): string {
  if (!name.startsWith('.')) return name
  const relative = posix.relative(dirname(to), posix.join(dirname(from), name))
  return relative.startsWith('.') ? relative : `./${relative}`
}
