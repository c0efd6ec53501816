/** Imports a module of the host the way its own tools would: by Vite, by jiti, by tsx, or by Node. */
import { existsSync, readFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { UsageError } from './report.ts'

type Module = Record<string, unknown>
interface ViteServer {
  ssrLoadModule(file: string): Promise<Module>
  close(): Promise<void>
}

/** The module, and how to end what loads it. Throws UsageError where nothing on this machine can read it. */
export async function importModule(file: string, cwd: string): Promise<{ module: Module; close(): Promise<void> }> {
  // SvelteKit, Qwik and SolidStart have modules that only their plugins of Vite make: `$env/…`, `@qwik-city-plan`.
  if (['ts', 'mts', 'js', 'mjs'].some((ending) => existsSync(join(cwd, `vite.config.${ending}`)))) {
    const vite = await fromHost<{ createServer(options: object): Promise<ViteServer> }>('vite', cwd)
    if (vite) return byVite(vite, file, cwd)
  }
  return { module: await byNode(file, cwd), close: async () => {} }
}

async function byVite(
  vite: { createServer(options: object): Promise<ViteServer> },
  file: string,
  cwd: string,
): Promise<{ module: Module; close(): Promise<void> }> {
  const server = await vite.createServer({
    root: cwd,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, hmr: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
  })
  try {
    return { module: await server.ssrLoadModule(file), close: () => server.close() }
  } catch (error) {
    await server.close()
    throw error
  }
}

async function byNode(file: string, cwd: string): Promise<Module> {
  const url = pathToFileURL(file).href
  const typescript = /\.m?ts$/.test(file) && !isUnderTsx()
  const jiti = typescript ? await fromHost<{ createJiti: CreateJiti }>('jiti', cwd) : undefined
  if (jiti) return jiti.createJiti(url, { tsconfigPaths: true, interopDefault: false, virtualModules: frameworkStubs() }).import(file)
  const tsx = typescript ? await fromHost<{ tsImport?: TsImport }>('tsx/esm/api', cwd) : undefined
  if (tsx?.tsImport) return tsx.tsImport(url, url)
  const hooks = registerHooks(cwd)
  try {
    return (await import(url)) as Module
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error
    throw new UsageError(
      `Node ${process.versions.node} cannot load ${file} by itself: \`npm install --save-dev tsx\` (or jiti), use Node 22.18 or newer, or name the compiled file.`,
    )
  } finally {
    hooks?.deregister()
  }
}

type TsImport = (file: string, from: string) => Promise<Module>

/** `tsx node_modules/.bin/authkernel`: it loads TypeScript, aliases and paths without endings by itself, and a second loader would make a second copy of the app. */
function isUnderTsx(): boolean {
  return process.execArgv.some((argument) => /[\\/]tsx[\\/]|^tsx(?:$|[\\/])|=tsx(?:$|[\\/])/.test(argument))
}

type CreateJiti = (from: string, options: object) => { import(file: string): Promise<Module> }

async function fromHost<T>(name: string, cwd: string): Promise<T | undefined> {
  let entry: string
  try {
    entry = nodeModule.createRequire(resolve(cwd, 'package.json')).resolve(name)
  } catch {
    return undefined
  }
  // `require` resolves to the CommonJS twin. That of tsx cannot load its own ES modules.
  const twin = entry.replace(/\.cjs$/, '.mjs')
  const module = (await import(pathToFileURL(existsSync(twin) ? twin : entry).href)) as T & { default?: T }
  return { ...module.default, ...module }
}

/** Marks that a bundler knows and that hold nothing. */
function frameworkStubs(): Record<string, object> {
  return { 'server-only': {}, 'client-only': {} }
}

type Resolve = (specifier: string, context: { parentURL?: string }, next: (specifier: string, context: object) => { url: string }) => object

/** Node resolves no `@/…` of a tsconfig.json and no path without an ending, which bundlers do. From Node 22.15. */
function registerHooks(cwd: string): { deregister(): void } | undefined {
  const { registerHooks: register } = nodeModule as { registerHooks?: (hooks: { resolve: Resolve }) => { deregister(): void } }
  const aliases = pathsOf(cwd)
  return register?.({
    resolve(specifier, context, next) {
      if (specifier in frameworkStubs()) return { url: 'data:text/javascript,', shortCircuit: true }
      const candidates = [specifier, ...aliases(specifier)]
      if (/^\.\.?\//.test(specifier) && context.parentURL?.startsWith('file:'))
        candidates.push(...pathsWithEndings(fileURLToPath(new URL(specifier, context.parentURL))))
      // `next/headers` is a file without an entry in `exports`.
      if (/^[\w@][^:]*$/.test(specifier) && /\/[^./]+$/.test(specifier)) candidates.push(`${specifier}.js`)
      let first: unknown
      for (const candidate of candidates) {
        try {
          return next(candidate, context)
        } catch (error) {
          first ??= error
        }
      }
      throw first
    },
  })
}

function pathsWithEndings(path: string): string[] {
  return ['.ts', '.mts', '.js', '.mjs', '/index.ts', '/index.js'].map((ending) => pathToFileURL(path + ending).href)
}

/** Patterns of `compilerOptions.paths`, as functions of a specifier. */
function pathsOf(cwd: string): (specifier: string) => string[] {
  const file = join(cwd, 'tsconfig.json')
  if (!existsSync(file)) return () => []
  const text = readFileSync(file, 'utf8')
  // Only the member is read: a tsconfig.json has comments, which JSON has not.
  const member = /"paths"\s*:\s*(\{[^{}]*\})/.exec(text)?.[1]
  const base = /"baseUrl"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? '.'
  let paths: Record<string, string[]> = {}
  try {
    paths = JSON.parse((member ?? '{}').replace(/,\s*([\]}])/g, '$1')) as Record<string, string[]>
  } catch {
    return () => []
  }
  return (specifier) =>
    Object.entries(paths).flatMap(([pattern, targets]) => {
      const [head = '', tail] = pattern.split('*')
      if (tail === undefined ? specifier !== pattern : !specifier.startsWith(head) || !specifier.endsWith(tail)) return []
      const rest = tail === undefined ? '' : specifier.slice(head.length, specifier.length - tail.length)
      return targets.flatMap((target) => {
        const path = resolve(cwd, base, target.replace('*', rest))
        return basename(path).includes('.') ? [pathToFileURL(path).href, ...pathsWithEndings(path)] : pathsWithEndings(path)
      })
    })
}
