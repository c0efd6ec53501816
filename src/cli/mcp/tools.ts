/** The tools of the MCP server: each reads, and none writes. */
import { execFile } from 'node:child_process'
import { isAbsolute, relative, resolve } from 'node:path'
import { createPaint, UsageError } from '../report.ts'
import { explain } from '../explain.ts'
import { listPlugins, readPage, searchPages } from './pages.ts'

/** Where the server runs. */
export interface Workplace {
  cwd: string
  env: Record<string, string | undefined>
}
/** One tool, as `tools/list` answers it, and what it does. */
export interface Tool {
  name: string
  description: string
  inputSchema: { type: 'object'; properties: Readonly<Record<string, object>>; required?: string[] }
  /** Throws UsageError for wrong arguments. */
  run(given: Readonly<Record<string, unknown>>, place: Workplace): Promise<unknown>
}

const text = (description: string): object => ({ type: 'string', description, maxLength: 500 })

export const tools: readonly Tool[] = [
  {
    name: 'search_docs',
    description: 'Searches the documentation of authkernel. Returns pages with the part that fits best.',
    inputSchema: {
      type: 'object',
      properties: { query: text('What to look for, in words'), limit: { type: 'integer', minimum: 1, maximum: 20 } },
      required: ['query'],
    },
    run: async ({ query, limit = 5 }) => {
      if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > 20)
        throw new UsageError('`limit` must be a whole number from 1 to 20.')
      return { pages: searchPages(readText({ query }, 'query'), limit as number) }
    },
  },
  {
    name: 'read_page',
    description: 'Returns one page of the documentation as Markdown.',
    inputSchema: {
      type: 'object',
      properties: { page: text('Its name, as search_docs returns it: plugins/api-keys') },
      required: ['page'],
    },
    run: async (given) => readPage(readText(given, 'page')),
  },
  {
    name: 'explain_error',
    description: 'Says when an error type of authkernel happens and what to do.',
    inputSchema: { type: 'object', properties: { type: text('The type, or the URL of an error page') }, required: ['type'] },
    run: async (given) => explain(readText(given, 'type'), { paint: createPaint({}, {}) }).data,
  },
  {
    name: 'list_plugins',
    description: 'Lists the plugins with the options that their pages have.',
    inputSchema: { type: 'object', properties: { name: text('One plugin, such as apiKeysPlugin. Default: all') } },
    run: async (given) => ({ plugins: listPlugins(given['name'] === undefined ? undefined : readText(given, 'name')) }),
  },
  {
    name: 'inspect_app',
    description:
      'Loads the auth module of this app and returns plugins, services, routes, callback URLs and findings, as `authkernel doctor` does.',
    inputSchema: { type: 'object', properties: { auth: text('The module that exports `auth`, below this folder. Default: found') } },
    run: async (given, place) => inspectApp(given['auth'] === undefined ? undefined : readText(given, 'auth'), place),
  },
]

/** In a process of its own: what the module prints is no part of the protocol, and each call loads it anew. */
function inspectApp(auth: string | undefined, { cwd, env }: Workplace): Promise<unknown> {
  if (auth !== undefined && isOutside(cwd, auth)) throw new UsageError('`auth` must name a file below the folder of the app.')
  const args = [...process.execArgv, process.argv[1] ?? '', 'doctor', ...(auth === undefined ? [] : [auth]), '--offline', '--json']
  return new Promise((done, fail) => {
    execFile(
      process.execPath,
      args,
      { cwd, env: { ...env, NO_COLOR: '1' }, timeout: 60_000, maxBuffer: 8_000_000 },
      (error, stdout, stderr) => {
        // The report is the last thing that is printed; the module may have printed before.
        const start = stdout.search(/^\{$/m)
        try {
          done(JSON.parse(stdout.slice(Math.max(start, 0))))
        } catch {
          fail(new UsageError(`The app could not be inspected. ${(stderr || (error?.message ?? '')).slice(-500)}`.trim()))
        }
      },
    )
  })
}

function isOutside(cwd: string, file: string): boolean {
  const path = relative(cwd, resolve(cwd, file))
  return path.startsWith('..') || isAbsolute(path)
}

function readText(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = given[name]
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 500) return value.trim()
  throw new UsageError(`\`${name}\` must be a text of 1 to 500 characters.`)
}
