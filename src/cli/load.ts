/** Finds and loads the host's module that exports `auth`. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Auth } from 'authkernel/kernel'
import { UsageError, type Setting } from './report.ts'

const folders = ['', 'src', 'server', 'src/server', 'lib', 'src/lib', 'app', 'config']
const endings = ['ts', 'mts', 'js', 'mjs']

/** The host's instance, the file it came from, and what else that file exports. */
export interface Loaded {
  auth: Auth
  file: string
  module: Record<string, unknown>
}

/** Reads environment files, then imports the module. Throws UsageError with what was looked for. */
export async function loadModule(
  options: { auth?: string | undefined; env?: string | undefined },
  { cwd }: Pick<Setting, 'cwd'>,
): Promise<Loaded> {
  loadEnv(options.env, cwd)
  const file = findModule(options.auth, cwd)
  const module = await importModule(file, cwd)
  const auth = [module['auth'], module['default']].find(isAuth)
  if (!auth) {
    const found = Object.keys(module).join(', ') || 'nothing'
    throw new UsageError(
      `${file} exports ${found}, but no \`auth\`. Export what createAuth() returned: \`export const auth = createAuth({ … })\`.`,
    )
  }
  return { auth, file, module }
}

// Variables that are set already win, so that a shell can override a file.
function loadEnv(file: string | undefined, cwd: string): void {
  if (file !== undefined && !existsSync(resolve(cwd, file))) throw new UsageError(`There is no environment file ${resolve(cwd, file)}.`)
  for (const name of file === undefined ? ['.env.local', '.env'] : [file]) {
    if (existsSync(resolve(cwd, name))) process.loadEnvFile(resolve(cwd, name))
  }
}

function findModule(given: string | undefined, cwd: string): string {
  if (given !== undefined) {
    const file = resolve(cwd, given)
    if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`)
    return file
  }
  const candidates = folders.flatMap((folder) => endings.map((ending) => resolve(cwd, folder, `auth.${ending}`)))
  const file = candidates.find((candidate) => existsSync(candidate))
  if (!file)
    throw new UsageError(
      `No auth module found: looked for auth.{${endings.join(',')}} in ${cwd} and in ${folders.slice(1).join(', ')} below it. Name it: \`authkernel doctor path/to/auth.ts\`.`,
    )
  return file
}

async function importModule(file: string, cwd: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(file).href
  if (!/\.m?ts$/.test(file)) return (await import(url)) as Record<string, unknown>
  // Newer versions of Node strip types themselves; elsewhere the loader that the host's tools brought along does it.
  const jiti = hostJiti(cwd)
  if (jiti) return jiti(url, { tsconfigPaths: true, interopDefault: false }).import(file)
  try {
    return (await import(url)) as Record<string, unknown>
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error
    throw new UsageError(
      `Node ${process.versions.node} cannot load ${file} by itself: \`npm install --save-dev jiti\`, use Node 22.18 or newer, or name the compiled file.`,
    )
  }
}

type CreateJiti = (from: string, options: object) => { import(file: string): Promise<Record<string, unknown>> }

function hostJiti(cwd: string): CreateJiti | undefined {
  try {
    return (createRequire(resolve(cwd, 'package.json'))('jiti') as { createJiti: CreateJiti }).createJiti
  } catch {
    return undefined
  }
}

function isAuth(value: unknown): value is Auth {
  const auth = value as Partial<Auth> | null | undefined
  return typeof auth?.ready === 'function' && typeof auth.inspect === 'function' && typeof auth.use === 'function'
}
