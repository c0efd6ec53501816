/** Looks at a project: framework, language, package manager, database client, and where its files are. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../report.ts'

/** Frameworks that bundle the app, and servers. */
export type BundledFramework = 'next' | 'sveltekit' | 'nuxt' | 'solid-start' | 'qwik'
export type Server = 'express' | 'hono' | 'fastify' | 'koa' | 'h3'
export type Framework = BundledFramework | Server
export const frameworks: readonly Framework[] = [
  'next',
  'sveltekit',
  'nuxt',
  'solid-start',
  'qwik',
  'express',
  'hono',
  'fastify',
  'koa',
  'h3',
]
export const stores = ['none', 'sqlite', 'postgres', 'mysql'] as const
export type StoreKind = (typeof stores)[number]
export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

/** What was found. */
export interface Project {
  cwd: string
  framework: Framework
  typescript: boolean
  manager: PackageManager
  /** The store that an installed database client suggests. */
  store: StoreKind
  /** Names of dependencies and devDependencies. */
  packages: ReadonlySet<string>
  /** `"type": "module"` in package.json. */
  esm: boolean
  /** Whether TypeScript files name each other with `.ts`, as Node's own loader wants it. */
  namesTs: boolean
  /** Where sources are: `src` or ''. */
  source: 'src' | ''
}

const packageOf: Readonly<Record<Framework, string>> = {
  next: 'next',
  sveltekit: '@sveltejs/kit',
  nuxt: 'nuxt',
  'solid-start': '@solidjs/start',
  qwik: '@builder.io/qwik-city',
  express: 'express',
  hono: 'hono',
  fastify: 'fastify',
  koa: 'koa',
  h3: 'h3',
}
const locks: readonly (readonly [string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
]
const clients: readonly (readonly [StoreKind, readonly string[]])[] = [
  ['postgres', ['pg', 'postgres', '@vercel/postgres', '@neondatabase/serverless']],
  ['mysql', ['mysql2']],
  ['sqlite', ['@libsql/client', 'better-sqlite3']],
]

/** Throws UsageError without a package.json, for an unknown framework, and where none is found. */
export function lookAt(cwd: string, given?: string): Project {
  const file = join(cwd, 'package.json')
  if (!existsSync(file))
    throw new UsageError(`There is no package.json in ${cwd}. Run this in the folder of your app, or make one with \`npm init\`.`)
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  const packages = new Set([...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.devDependencies ?? {})])
  const has = (name: string): boolean => existsSync(join(cwd, name))
  return {
    cwd,
    framework: frameworkOf(given, packages),
    typescript: has('tsconfig.json') || packages.has('typescript'),
    manager: (manifest.packageManager?.split('@')[0] as PackageManager | undefined) ?? locks.find(([lock]) => has(lock))?.[1] ?? 'npm',
    store: clients.find(([, names]) => names.some((name) => packages.has(name)))?.[0] ?? 'none',
    packages,
    esm: manifest.type === 'module',
    namesTs:
      has('tsconfig.json') &&
      /"(?:allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/.test(readFileSync(join(cwd, 'tsconfig.json'), 'utf8')),
    source: has('src') && readdirSync(join(cwd, 'src')).length > 0 ? 'src' : '',
  }
}

interface Manifest {
  type?: string
  packageManager?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

function frameworkOf(given: string | undefined, packages: ReadonlySet<string>): Framework {
  if (given !== undefined) {
    const named = frameworks.find((name) => name === given)
    if (!named) throw new UsageError(`There is no framework "${given}" here. Known: ${frameworks.join(', ')}.`)
    return named
  }
  // In this order: Next, SvelteKit and the like may have another server beside them.
  const found = frameworks.find((name) => packages.has(packageOf[name]))
  if (!found) {
    throw new UsageError(
      `package.json names no framework that is known here (${Object.values(packageOf).join(', ')}). Install one, or name it: --framework express. ` +
        'Other frameworks: docs/bindings.',
    )
  }
  return found
}
