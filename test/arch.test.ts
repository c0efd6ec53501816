/** The architecture as a test: DESIGN sections 3 (layering) and 8 (budgets). What a rule refuses is named in its failure. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { cycles, type Import, list, readSources, root, type Source } from './_sources.ts'

const sources = readSources('src', 'plugins', 'bindings', 'cli')
const kernelLibraries = ['hookable', 'defu', 'jose', 'rou3', 'cookie-es']
const { peerDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { peerDependencies: Record<string, string> }
const presetFiles = ['src/preset.ts', 'src/index.ts']

/** Files that need Node itself, with the reason. */
const nodeFiles: Record<string, string> = {
  'bindings/_node.ts': 'turns IncomingMessage and ServerResponse into Request and Response',
  'plugins/_unstorage/folder-lock.ts': 'locks a folder of the file system; imported on demand, when a host asks for it',
}

describe('layering', () => {
  it('src imports src and the five kernel libraries; only preset.ts imports plugins', () => {
    const wrong = offences('src/', ({ path }, { file, library }) =>
      file
        ? file.startsWith('src/') || (path === 'src/preset.ts' && /^plugins\/[^/]+\.ts$/.test(file))
        : kernelLibraries.includes(library ?? ''),
    )
    expect(wrong).toEqual([])
  })

  it('only index.ts imports preset.ts, and the kernel entry reaches neither', () => {
    const importers = sources.filter(({ imports }) => imports.some(({ file }) => file === 'src/preset.ts')).map(({ path }) => path)
    expect(importers).toEqual(['src/index.ts'])
    expect([...reachable('src/kernel.ts')].filter((path) => presetFiles.includes(path) || path.startsWith('plugins/'))).toEqual([])
  })

  it('plugins import authkernel/kernel, a private folder and one library, and never each other', () => {
    const wrong = offences('plugins/', ({ path }, { file, library, specifier }) =>
      path.startsWith('plugins/providers/')
        ? true
        : library
          ? true
          : specifier === 'authkernel/kernel' || (file?.startsWith('plugins/_') ?? false),
    )
    expect(wrong).toEqual([])
    const libraries = plugins().map(({ path, imports }) => ({
      path,
      libraries: [...new Set(imports.flatMap(({ library }) => (library && !library.startsWith('node:') ? library : [])))],
    }))
    expect(libraries.filter(({ libraries: { length } }) => length > 1)).toEqual([])
  })

  it('providers are data: they import types of authkernel/kernel and nothing else', () => {
    expect(offences('plugins/providers/', (_, { specifier, type }) => type && specifier === 'authkernel/kernel')).toEqual([])
  })

  it('bindings import authkernel, authkernel/kernel, private files of bindings and their framework', () => {
    const wrong = offences('bindings/', ({ path }, { file, library = '', specifier }) => {
      if (file) return ['authkernel', 'authkernel/kernel'].includes(specifier) || file.startsWith('bindings/_')
      // The framework itself, where it only understands its own classes: an optional peer. SvelteKit has a module that Vite makes.
      return library.startsWith('node:') ? path in nodeFiles : library in peerDependencies || specifier === '$app/paths'
    })
    expect(wrong).toEqual([])
  })

  it('the command line imports public names only', () => {
    const wrong = offences('cli/', (_, { file, library, specifier }) =>
      file ? specifier.startsWith('authkernel') || file.startsWith('cli/') : library === 'citty' || library!.startsWith('node:'),
    )
    expect(wrong).toEqual([])
  })

  it('node: appears only where a runtime without it never goes', () => {
    const users = sources
      .filter(({ path, imports }) => !path.startsWith('cli/') && imports.some(({ specifier }) => specifier.startsWith('node:')))
      .map(({ path }) => path)
    expect(users.filter((path) => !(path in nodeFiles))).toEqual([])
    expect(Object.keys(nodeFiles).filter((path) => !users.includes(path))).toEqual([])
  })

  it('no value-import cycles anywhere, type cycles inside src alone', () => {
    expect(cycles(sources, ({ type, dynamic }) => !type && !dynamic)).toEqual([])
    expect(cycles(sources, () => true).filter((group) => group.some((path) => !path.startsWith('src/')))).toEqual([])
  })
})

describe('budgets', () => {
  it('no file is longer than 250 lines', () => {
    expect(sources.filter(({ lines }) => lines > 250).map(({ path, lines }) => `${path}: ${lines}`)).toEqual([])
  })

  it('no type suppression in src, at most 3 elsewhere, each with a reason', () => {
    const found = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/@ts-(?:expect-error|ignore|nocheck)(.*)/g)].map(([, reason]) => ({ path, reason: reason!.trim() })),
    )
    expect(found.filter(({ path }) => path.startsWith('src/'))).toEqual([])
    expect(found.filter(({ reason }) => reason === '')).toEqual([])
    expect(found.length).toBeLessThanOrEqual(3)
  })

  it('at most 15 times `any` in all', () => {
    const found = sources.filter(({ anyTypes }) => anyTypes > 0).map(({ path, anyTypes }) => [path, anyTypes] as const)
    expect(
      found.reduce((sum, [, count]) => sum + count, 0),
      JSON.stringify(found),
    ).toBeLessThanOrEqual(15)
  })

  it('no grab-bag of utilities', () => {
    expect(sources.filter(({ path }) => /(?:^|\/)_?(?:utils?|helpers?|misc|common)(?:\.ts|\/)/.test(path)).map(({ path }) => path)).toEqual(
      [],
    )
  })

  it('the kernel entry is at most 28 KB gzipped, without jose (docs/architecture.md says why not 12)', async () => {
    const { outputFiles } = await build({
      entryPoints: [`${root}src/kernel.ts`],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      external: ['jose'],
    })
    expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThanOrEqual(28 * 1024)
  })
})

describe('parallel lists', () => {
  const tests = list('test', '.test.ts')
  const pages = list('docs', '.md')
  const headings = pages.flatMap((page) => readFileSync(root + page, 'utf8').match(/^#+ .*$/gm) ?? [])

  it('every plugin and binding has a test file of its name', () => {
    const missing = [...plugins(), ...bindings()]
      .map(({ path }) => name(path))
      .filter((file) => !tests.some((test) => test.endsWith(`/${file}.test.ts`)))
    expect(missing).toEqual([])
  })

  it('every plugin and binding has a page or a section of the docs', () => {
    const missing = [...plugins(), ...bindings()].map(({ path }) => path.slice(0, -3)).filter((path) => !documented(path))
    expect(missing).toEqual([])
  })

  function documented(path: string): boolean {
    return (
      pages.includes(`docs/${path}.md`) ||
      headings.some((heading) => heading.includes(`authkernel/${path}\``) || heading.includes(`authkernel/${name(path)}\``))
    )
  }
})

function plugins(): Source[] {
  return sources.filter(({ path }) => /^plugins\/[^_/][^/]*\.ts$/.test(path))
}

function bindings(): Source[] {
  return sources.filter(({ path }) => /^bindings\/[^_/][^/]*\.ts$/.test(path))
}

function name(path: string): string {
  return path.split('/').pop()!.replace(/\.ts$/, '')
}

/** Imports under a folder that a rule does not allow, as readable lines. */
function offences(folder: string, allowed: (source: Source, edge: Import) => boolean): string[] {
  return sources
    .filter(({ path }) => path.startsWith(folder))
    .flatMap((source) =>
      source.imports
        .filter((edge) => !allowed(source, edge))
        .map(({ specifier, type }) => `${source.path} imports ${type ? 'type ' : ''}${specifier}`),
    )
}

function reachable(from: string, seen: Set<string> = new Set()): Set<string> {
  for (const { file, type } of sources.find(({ path }) => path === from)?.imports ?? []) {
    if (!file || type || seen.has(file)) continue
    seen.add(file)
    reachable(file, seen)
  }
  return seen
}
