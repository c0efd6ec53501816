/** Writes the module that exports `auth`. */
import { factoryOf } from './factories.ts'
import type { Framework, Project, Server, StoreKind } from './project.ts'

/** What the questions answer. */
export interface Answers {
  /** Ids of built-in providers; `demo` is a password for development. */
  providers: readonly string[]
  store: StoreKind
}

/** Path of the module below the project. */
export function authPath(project: Project): string {
  const { framework, typescript, source, esm } = project
  const factory = factoryOf(framework)
  if (factory) return `${factory.module(project)}.${typescript ? 'ts' : 'js'}`
  return `${source ? 'src/' : ''}auth.${typescript ? 'ts' : esm ? 'js' : 'mjs'}`
}

/** Environment variables that the module reads, with what they are. */
export function variablesOf({ providers, store }: Answers): [name: string, value: string][] {
  return [
    ...providers.flatMap((id): [string, string][] =>
      id === 'demo' ? [] : ['ID', 'SECRET'].map((suffix) => [`AUTH_${id.toUpperCase().replaceAll('-', '_')}_${suffix}`, '']),
    ),
    ...(store === 'postgres' ? [['DATABASE_URL', 'postgres://user:password@localhost:5432/app'] as [string, string]] : []),
    ...(store === 'mysql' ? [['DATABASE_URL', 'mysql://user:password@localhost:3306/app'] as [string, string]] : []),
  ]
}

/** The text of the module. */
export function authModule(project: Project, answers: Answers): string {
  const { framework } = project
  const providers = answers.providers.filter((id) => id !== 'demo')
  const lines = [
    ...importsOf(framework, answers.store),
    ...(answers.providers.includes('demo') ? ["import { demoAccount } from 'authkernel/plugins/credentials'"] : []),
    ...providers.map((id) => `import ${importName(id)} from 'authkernel/providers/${id}'`),
  ].sort(byModule)
  const list = [...(answers.providers.includes('demo') ? ['demo'] : []), ...providers.map((id) => `${importName(id)}()`)].join(', ')
  return [
    ...lines,
    '',
    ...(answers.providers.includes('demo') ? demoLines(project) : []),
    ...storeLines(framework, answers.store),
    ...moduleBody(framework, list, answers.store !== 'none'),
    '',
  ].join('\n')
}

/** A name for a default import: `microsoft-entra-id` becomes `microsoftEntraId`. */
export function importName(id: string): string {
  const name = id.replace(/[^a-z0-9]+(.)?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? '')
  return /^\d/.test(name) ? `_${name}` : name
}

const bindings: Readonly<Record<Server, string>> = {
  express: 'expressBinding',
  hono: 'honoBinding',
  fastify: 'fastifyBinding',
  koa: 'koaBinding',
  h3: 'h3Binding',
}

function importsOf(framework: Framework, store: StoreKind): string[] {
  const own = factoryOf(framework)?.imports ?? [
    "import { createAuth } from 'authkernel'",
    `import { ${bindingOf(framework)} } from 'authkernel/bindings/${framework}'`,
  ]
  const sql = "import { sqlAdapter } from 'authkernel/plugins/sql'"
  const ofStore: Readonly<Record<StoreKind, readonly string[]>> = {
    none: [],
    sqlite: [
      "import { createClient } from '@libsql/client'",
      "import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'",
      "import { Kysely } from 'kysely'",
    ],
    postgres: [sql, "import { Kysely, PostgresDialect } from 'kysely'", "import pg from 'pg'"],
    mysql: [sql, "import { Kysely, MysqlDialect } from 'kysely'", "import { createPool } from 'mysql2'"],
  }
  return [...own, ...ofStore[store]]
}

function byModule(a: string, b: string): number {
  const module = (line: string): string => line.slice(line.lastIndexOf("from '"))
  return module(a) < module(b) ? -1 : 1
}

/** A user to sign in as at once. It is in no production: the flag is the framework's own, and any host but localhost rejects it. */
function demoLines({ framework }: Project): string[] {
  return [
    '// For development on localhost: username "demo", password "demo". Take it out when another sign-in method works.',
    `const demo = demoAccount({ development: ${factoryOf(framework)?.development ?? "process.env.NODE_ENV !== 'production'"} })`,
    '',
  ]
}

function storeLines(framework: Framework, store: StoreKind): string[] {
  const url = `${envOf(framework)}.DATABASE_URL`
  if (store === 'sqlite') {
    return [
      "const db = new Kysely({ dialect: libsqlDialect({ client: createClient({ url: 'file:auth.db' }) }) })",
      '// Makes its tables at the first sign-in.',
      'const adapter = sqlAdapter(db, { migrate: true })',
      '',
    ]
  }
  if (store === 'postgres') {
    return [
      `const pool = new pg.Pool({ connectionString: ${url} })`,
      'const adapter = sqlAdapter(new Kysely({ dialect: new PostgresDialect({ pool }) }), { pool })',
      '',
    ]
  }
  if (store === 'mysql') {
    return [`const pool = createPool(${url} ?? '')`, 'const adapter = sqlAdapter(new Kysely({ dialect: new MysqlDialect({ pool }) }))', '']
  }
  return []
}

function moduleBody(framework: Framework, providers: string, stored: boolean): string[] {
  // With an adapter, sessions are in the database: the strategy that ends them at once, as passwords, second factors and the ending of all sessions need.
  const options = [...(stored ? ['  adapter,'] : []), `  providers: [${providers}],`]
  const reads = '// Reads AUTH_SECRET, the ids and secrets of providers and, in production, AUTH_URL.'
  const { open, close } = factoryOf(framework) ?? { open: ['export const auth = createAuth({'], close: `}).use(${bindingOf(framework)}())` }
  return [reads, ...open, ...options, close]
}

function bindingOf(framework: Framework): string {
  return bindings[framework as Server]
}

function envOf(framework: Framework): string {
  return factoryOf(framework)?.env ?? 'process.env'
}
