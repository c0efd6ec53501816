/** docs/migrating-from-authjs.md keeps its word: the modules and names that it speaks of exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../_sources.ts'
import { namesOf } from './_names.ts'
import { changes, gone, imports, kept, moved, replaced, versions, whole } from './_page.ts'

const { paths } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).compilerOptions as { paths: Record<string, [string]> }
const apps = join(root, 'test/migration/apps')

/** Our source of a module. */
function sourceOf(specifier: string): string {
  for (const [name, [file]] of Object.entries(paths)) {
    const [before = '', after] = name.split('*')
    if (after === undefined ? specifier === name : specifier.startsWith(before)) return file.replace('*', specifier.slice(before.length))
  }
  throw new Error(`${specifier} is no module of authkernel`)
}

// The apps of better-auth have a page of their own (docs/migrating-from-better-auth.md).
const named = readdirSync(apps).filter((name) => !name.startsWith('better-auth'))

describe('modules', () => {
  const plain = imports.map(([from]) => from).filter((from) => !from.includes('*'))

  it.each([...plain, '@auth/core/adapters', '@auth/core/providers'])('%s has its counterpart', (specifier) => {
    expect(existsSync(join(root, sourceOf(replaced(specifier))))).toBe(true)
  })

  it('every built-in provider is where the table says', () => {
    const files = readdirSync(join(root, 'node_modules/@auth/core/providers')).filter((file) => file.endsWith('.js'))
    const ids = files.map((file) => file.slice(0, -3)).filter((id) => !['index', 'provider-types', 'oauth'].includes(id))
    expect(ids.length).toBeGreaterThan(90)
    const missing = (id: string): boolean => !existsSync(join(root, sourceOf(replaced(`@auth/sveltekit/providers/${id}`))))
    expect(ids.filter(missing)).toEqual([])
  })

  it('what stays is left alone', () => {
    expect(kept.length).toBeGreaterThan(4)
    expect(kept.map(replaced)).toEqual(kept)
  })
})

describe('names', () => {
  const modules = ['', '/types', '/errors', '/jwt', '/adapters', '/providers'].map((path) => `@auth/core${path}`)
  const file = (specifier: string): string =>
    `node_modules/${specifier}${specifier === '@auth/core' || specifier.endsWith('/providers') ? '/index' : ''}.d.ts`
  const names = namesOf(modules.flatMap((specifier) => [file(specifier), sourceOf(replaced(specifier))]))

  it.each(modules)('every name of %s is one of its counterpart, or the page says what stands in its place', (specifier) => {
    const ours = names(sourceOf(replaced(specifier)))
    expect(names(file(specifier)).filter((name) => !ours.includes(name) && !gone.has(name))).toEqual([])
  })

  it('no name that is said to be gone is there', () => {
    const ours = modules.flatMap((specifier) => names(sourceOf(replaced(specifier))))
    expect(gone.size).toBeGreaterThan(20)
    expect([...gone.keys()].filter((name) => ours.includes(name))).toEqual([])
  })
})

describe('apps', () => {
  const files = readdirSync(apps, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tsx?|svelte)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(apps.length + 1))

  it('each package has a section whose changes fit its app', () => {
    const folders = (paths: Iterable<string>): string[] => [...new Set([...paths].map((path) => path.split('/')[0]!))].sort()
    expect(folders([...changes.keys(), ...whole.keys()])).toEqual(named.sort())
    expect([...changes.keys()].filter((path) => !files.includes(path))).toEqual([])
  })

  it.each(named)('%s: the page names the version that is tested', (name) => {
    const file = join(apps, name, 'package.json')
    const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>
    const [[from, version] = ['', '']] = Object.entries({ ...dependencies, ...devDependencies }).filter(([dependency]) =>
      [...new Set(imports.map(([from]) => from))].includes(dependency),
    )
    const short = version.includes('-beta.') ? version.replace(/^(\d+)\..*-beta\.(\d+)$/, '$1 (beta $2)') : version.replace(/\.\d+$/, '')
    expect(versions).toContain(`${from} ${short}`)
  })

  it.each(files)('%s: nothing of Auth.js is left but what stays', (path) => {
    const code = whole.get(path) ?? moved(path, readFileSync(join(apps, path), 'utf8'))
    const specifiers = [...code.matchAll(/(?:from|import|module) '([^']+)'/g)].map(([, specifier]) => specifier!)
    const left = specifiers.filter((specifier) => /^(?:next-auth|@auth)\b/.test(specifier) && !/^@auth\/\w+-adapter$/.test(specifier))
    expect(left.filter((specifier) => !kept.includes(specifier))).toEqual([])
  })
})
