/** What a source file says about NextAuth 4: imports, calls and types, with their places in the text. */
import type { ImportDeclaration, Program } from 'oxc-parser'
import type * as Parser from 'oxc-parser'

/** The optional package that parses TypeScript. */
export type Oxc = Pick<typeof Parser, 'parseSync' | 'Visitor'>

/** A place in a text. */
export interface Span {
  start: number
  end: number
}
/** One imported name. */
export interface Name {
  imported: string
  local: string
}
export interface Import extends Span {
  source: string
  /** Place of the module name with its quotes. */
  at: Span
  names: readonly Name[]
}
/** `NextAuth(options)`. */
export interface FactoryCall {
  /** The whole statement. */
  statement: Span
  args: readonly (Span & { name: string | undefined })[]
}
/** `getServerSession(…)`. */
export interface SessionCall extends Span {
  args: readonly (Span & { text: string })[]
}
export interface SourceFile {
  path: string
  text: string
  imports: readonly Import[]
  /** Modules of `export … from 'next-auth/middleware'`. */
  reexports: readonly string[]
  /** `declare module 'next-auth'`: the quoted names. */
  modules: readonly (Span & { name: string })[]
  /** Names of the types of options. */
  optionTypes: readonly Span[]
  factories: readonly FactoryCall[]
  sessions: readonly SessionCall[]
  /** `export { handler as GET }`. */
  handlerExports: readonly Span[]
  /** Names of variables of the module. */
  variables: ReadonlySet<string>
  /** How often a name is used, its imports and declaration included. */
  uses(name: string): number
}

const optionNames = new Set(['NextAuthOptions', 'AuthOptions'])
const sessionNames = new Set(['getServerSession', 'unstable_getServerSession'])

/** Undefined for a file that cannot be parsed. */
export function scanFile({ parseSync, Visitor }: Oxc, path: string, text: string): SourceFile | undefined {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) return undefined
  const imports = program.body.filter((node) => node.type === 'ImportDeclaration').map(readImport)
  const own = imports.filter(({ source }) => source === 'next-auth' || source === 'next-auth/next').flatMap(({ names }) => names)
  const localsOf = (wanted: (name: string) => boolean): Set<string> =>
    new Set(own.filter(({ imported }) => wanted(imported)).map(({ local }) => local))
  const factory = localsOf((name) => name === 'default' || name === 'NextAuth')
  const session = localsOf((name) => sessionNames.has(name))
  const types = localsOf((name) => optionNames.has(name))
  const found = {
    modules: [] as (Span & { name: string })[],
    optionTypes: [] as Span[],
    factories: [] as FactoryCall[],
    sessions: [] as SessionCall[],
  }
  const counts = new Map<string, number>()
  new Visitor({
    Identifier: ({ name }) => void counts.set(name, (counts.get(name) ?? 0) + 1),
    TSModuleDeclaration: ({ id }) => void (id.type === 'Literal' && found.modules.push({ ...spanOf(id), name: String(id.value) })),
    TSTypeReference: ({ typeName }) =>
      void (typeName.type === 'Identifier' && types.has(typeName.name) && found.optionTypes.push(spanOf(typeName))),
    CallExpression(node) {
      if (node.callee.type !== 'Identifier') return
      const args = node.arguments.map((argument) => ({
        ...spanOf(argument),
        text: text.slice(argument.start, argument.end),
        name: argument.type === 'Identifier' ? argument.name : undefined,
      }))
      if (session.has(node.callee.name)) found.sessions.push({ ...spanOf(node), args })
      if (factory.has(node.callee.name)) found.factories.push({ statement: statementOf(program, node), args })
    },
  }).visit(program)
  return {
    path,
    text,
    imports,
    reexports: program.body.flatMap(sourceOfExport),
    ...found,
    handlerExports: program.body.filter(isHandlerExport).map(spanOf),
    variables: new Set(program.body.flatMap(variablesOf)),
    uses: (name) => counts.get(name) ?? 0,
  }
}

function readImport(node: ImportDeclaration): Import {
  const names = node.specifiers.map((each): Name => {
    if (each.type === 'ImportDefaultSpecifier') return { imported: 'default', local: each.local.name }
    if (each.type === 'ImportNamespaceSpecifier') return { imported: '*', local: each.local.name }
    return { imported: each.imported.type === 'Identifier' ? each.imported.name : each.imported.value, local: each.local.name }
  })
  return { ...spanOf(node), source: node.source.value, at: spanOf(node.source), names }
}

function sourceOfExport(node: Program['body'][number]): string[] {
  if (node.type !== 'ExportNamedDeclaration' && node.type !== 'ExportAllDeclaration') return []
  return node.source ? [node.source.value] : []
}

function statementOf({ body }: Program, { start, end }: Span): Span {
  return spanOf(body.find((node) => node.start <= start && end <= node.end) ?? { start, end })
}

function isHandlerExport(node: Program['body'][number]): boolean {
  if (node.type !== 'ExportNamedDeclaration' || node.specifiers.length === 0) return false
  return node.specifiers.every(({ exported }) => exported.type === 'Identifier' && /^(?:GET|POST)$/.test(exported.name))
}

function variablesOf(node: Program['body'][number]): string[] {
  const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : node
  if (declaration?.type !== 'VariableDeclaration') return []
  return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
}

function spanOf({ start, end }: Span): Span {
  return { start, end }
}
