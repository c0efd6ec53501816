/** Finds and loads the host's module that exports `auth`. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Auth } from 'authkernel/kernel'
import { importModule } from './import-module.ts'
import { UsageError, type Setting } from './report.ts'

const folders = ['', 'src', 'server', 'server/utils', 'src/server', 'lib', 'src/lib', 'src/lib/server', 'app', 'config']
const endings = ['ts', 'mts', 'js', 'mjs']
// Bindings call this with what makes their kernel, so that `export const { handle } = SvelteKitAuth(…)` is found too.
const factorySymbol = Symbol.for('authkernel.made')

/** The host's instance, the file it came from, and what else that file exports. */
export interface LoadedModule {
  auth: Auth
  file: string
  module: Record<string, unknown>
}

/** Reads environment files, then imports the module. Throws UsageError with what was looked for. */
export async function loadModule(
  options: { auth?: string | undefined; env?: string | undefined },
  { cwd }: Pick<Setting, 'cwd'>,
): Promise<LoadedModule> {
  loadEnv(options.env, cwd)
  const file = findModule(options.auth, cwd)
  const factories: Factory[] = []
  Object.assign(globalThis, { [factorySymbol]: (factory: Factory) => void factories.push(factory) })
  const { module, close } = await importModule(file, cwd).finally(() => Reflect.deleteProperty(globalThis, factorySymbol))
  const auth = [module['auth'], module['default']].find(isAuth) ?? (await fromFactory(factories[0], file))
  if (!auth) {
    const found = Object.keys(module).join(', ') || 'nothing'
    throw new UsageError(
      `${file} exports ${found}, but no \`auth\`. Export what createAuth() returned: \`export const auth = createAuth({ … })\`.`,
    )
  }
  return { auth: closeWithModule(auth, close), file, module }
}

type Factory = (event: object) => Promise<unknown>

/** The instance behind a binding's factory. Options that are a function of the request get one for `/`. */
async function fromFactory(factory: Factory | undefined, file: string): Promise<Auth | undefined> {
  if (!factory) return undefined
  const request = new Request('http://localhost:3000/')
  const env = { ...process.env, get: (name: string) => process.env[name] }
  try {
    const auth = await factory(Object.assign(request, { request, env, platform: { env }, locals: {}, sharedMap: new Map() }))
    return isAuth(auth) ? auth : undefined
  } catch (error) {
    if (error instanceof Error && 'type' in error) throw error
    throw new UsageError(
      `The options in ${file} are a function of the request, which failed outside of one: ${error instanceof Error ? error.message : String(error)}.`,
    )
  }
}

/** Ends the tools that loaded the module together with the instance. */
function closeWithModule(auth: Auth, close: () => Promise<void>): Auth {
  const end = auth.close.bind(auth)
  auth.close = () => end().finally(close)
  return auth
}

// Variables that are set already win, so that a shell can override a file.
function loadEnv(file: string | undefined, cwd: string): void {
  if (file !== undefined && !existsSync(resolve(cwd, file))) throw new UsageError(`There is no environment file ${resolve(cwd, file)}.`)
  for (const name of file === undefined ? ['.env.local', '.env'] : [file]) {
    if (existsSync(resolve(cwd, name))) process.loadEnvFile(resolve(cwd, name))
  }
}

/** Path of the host's auth module. Throws UsageError with what was looked for. */
export function findModule(given: string | undefined, cwd: string): string {
  if (given !== undefined) {
    const file = resolve(cwd, given)
    if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`)
    return file
  }
  const names = [...folders.map((folder) => `${folder}/auth`), 'src/routes/plugin@auth']
  const candidates = names.flatMap((name) => endings.map((ending) => resolve(cwd, `./${name}.${ending}`)))
  const file = candidates.find((candidate) => existsSync(candidate))
  if (!file)
    throw new UsageError(
      `No auth module found: looked for auth.{${endings.join(',')}} in ${cwd} and in ${folders.slice(1).join(', ')} below it. Name it: \`authkernel doctor path/to/auth.ts\`.`,
    )
  return file
}

function isAuth(value: unknown): value is Auth {
  const auth = value as Partial<Auth> | null | undefined
  return typeof auth?.ready === 'function' && typeof auth.inspect === 'function' && typeof auth.use === 'function'
}
