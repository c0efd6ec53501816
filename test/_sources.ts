/** The sources as the architecture tests see them: parsed by the TypeScript compiler, so that comments and strings never count as code. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { aliases } from '../scripts/aliases.ts'

export const root: string = fileURLToPath(new URL('../', import.meta.url))

export interface Import {
  /** As written. */
  specifier: string
  /** Source file of this repository, relative to its root; undefined for a package. */
  file: string | undefined
  /** Name of the package; undefined for a source file. */
  library: string | undefined
  type: boolean
  dynamic: boolean
}
export interface Source {
  /** Relative to the root, with forward slashes. */
  path: string
  text: string
  lines: number
  imports: readonly Import[]
  anyTypes: number
  /** Where something is decided by the text of a message, or by the name of an error. */
  textMatches: readonly string[]
  /** Reads of the platform's clock, randomness and network, which the kernel has as `runtime`. */
  platformReads: readonly string[]
  /** Texts between quotes that are no import, and names that are read of an object called `services`. */
  literals: readonly string[]
  /** Names of functions that stand alone: declarations, constants that are functions, and whether others can import them. */
  functions: readonly { name: string; exported: boolean }[]
  /** Names of types, classes and constants of the module. */
  topNames: readonly string[]
  /** Names of variables, parameters, functions and types: not of members, which are data, and not of what comes out of a destructured one. */
  ownNames: readonly string[]
  /** Lines of `as never` and `as unknown as` without a comment on the line or the line above. */
  bareCasts: readonly number[]
}

/** TypeScript files under the given folders. */
export function readSources(...folders: string[]): Source[] {
  return folders.flatMap((folder) => list(folder)).map(parse)
}

/** Names of files under a folder, relative to the root. */
export function list(folder: string, ending = '.ts'): string[] {
  let entries
  try {
    entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  } catch {
    return []
  }
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => slashes(relative(root, join(entry.parentPath, entry.name))))
    .filter((path) => !path.includes('node_modules/'))
    .sort()
}

/** Groups of files that import each other in a circle. */
export function cycles(sources: readonly Source[], follows: (edge: Import) => boolean): string[][] {
  const edges = new Map(sources.map(({ path, imports }) => [path, imports.filter(follows).flatMap(({ file }) => file ?? [])]))
  const reach = (from: string): Set<string> => {
    const seen = new Set<string>()
    const open = [...(edges.get(from) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(edges.get(next) ?? []))
    }
    return seen
  }
  const reached = new Map([...edges.keys()].map((path) => [path, reach(path)]))
  const groups = new Map<string, string[]>()
  for (const [path, targets] of reached) {
    if (!targets.has(path)) continue
    const group = [...targets].filter((other) => reached.get(other)?.has(path)).sort()
    groups.set(group.join(), group)
  }
  return [...groups.values()]
}

function parse(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const imports: Import[] = []
  const literals: string[] = []
  const textMatches: string[] = []
  const platformReads: string[] = []
  const ownFetch = /[{(,]\s*fetch\s*[,}:=)]|\b(?:const|let|function) fetch\b/.test(text)
  const functions: { name: string; exported: boolean }[] = []
  const topNames: string[] = []
  const ownNames: string[] = []
  const bareCasts: number[] = []
  const lines = text.split('\n')
  let anyTypes = 0
  const add = (node: ts.Node | undefined, type: boolean, dynamic = false): void => {
    if (node && ts.isStringLiteralLike(node)) imports.push(edge(path, node.text, type, dynamic))
  }
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) anyTypes++
    if (ts.isStringLiteralLike(node) && !isSpecifier(node)) literals.push(node.text)
    if (isDeclaration(node) && node.name && ts.isIdentifier(node.name)) ownNames.push(node.name.text)
    if (isCast(node)) {
      const { line } = tree.getLineAndCharacterOfPosition(node.end)
      const isExplained = /\/\/|\*\//.test(lines[line]!) || /^\s*(?:\/\/|.*\*\/$)/.test(lines[line - 1] ?? '')
      if (!isExplained) bareCasts.push(line + 1)
    }
    if (isTextMatch(node, tree)) textMatches.push(node.getText(tree))
    const read = platformRead(node, tree)
    if (read && !(ownFetch && read === 'fetch')) platformReads.push(read)
    if (ts.isPropertyAccessExpression(node) && /(?:^|\.)services$/.test(node.expression.getText(tree)))
      literals.push(`services.${node.name.text}`)
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], false, true)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  for (const statement of tree.statements) {
    const exported =
      ts.canHaveModifiers(statement) && !!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    for (const { name, isFunction } of namesOf(statement)) {
      if (isFunction) functions.push({ name, exported })
      topNames.push(name)
    }
  }
  return {
    path,
    text,
    lines: text.trimEnd().split('\n').length,
    imports,
    anyTypes,
    literals,
    textMatches,
    platformReads,
    functions,
    topNames,
    ownNames,
    bareCasts,
  }
}

function isDeclaration(node: ts.Node): node is ts.VariableDeclaration | ts.ParameterDeclaration | ts.FunctionDeclaration {
  return ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isFunctionDeclaration(node)
}

/** `x as never` and `x as unknown as T`: the compiler checks neither. */
function isCast(node: ts.Node): boolean {
  if (!ts.isAsExpression(node)) return false
  return (
    node.type.kind === ts.SyntaxKind.NeverKeyword ||
    (ts.isAsExpression(node.expression) && node.expression.type.kind === ts.SyntaxKind.UnknownKeyword)
  )
}

function namesOf(statement: ts.Statement): { name: string; isFunction: boolean }[] {
  if (ts.isFunctionDeclaration(statement)) return statement.name ? [{ name: statement.name.text, isFunction: true }] : []
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isClassDeclaration(statement))
    return statement.name ? [{ name: statement.name.text, isFunction: false }] : []
  if (!ts.isVariableStatement(statement)) return []
  return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
    ts.isIdentifier(name)
      ? [{ name: name.text, isFunction: !!initializer && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)) }]
      : [],
  )
}

const platformCalls = new Set([
  'Date.now',
  'performance.now',
  'Math.random',
  'crypto.randomUUID',
  'crypto.getRandomValues',
  'fetch',
  'globalThis.fetch',
])

function platformRead(node: ts.Node, tree: ts.SourceFile): string | undefined {
  if (ts.isNewExpression(node)) return node.expression.getText(tree) === 'Date' && !node.arguments?.length ? 'new Date' : undefined
  if (!ts.isCallExpression(node)) return undefined
  const name = node.expression.getText(tree)
  return platformCalls.has(name) ? name : undefined
}

const searches = new Set(['startsWith', 'endsWith', 'includes', 'indexOf', 'match', 'matchAll', 'search'])

function isTextMatch(node: ts.Node, tree: ts.SourceFile): boolean {
  const isMessage = (one: ts.Node): boolean =>
    /(?:^|\.)message$/.test(
      one
        .getText(tree)
        .replace(/^String\((.*)\)$/, '$1')
        .replace(/[)!]+$/, ''),
    )
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { name, expression } = node.expression
    return searches.has(name.text) ? isMessage(expression) : ['test', 'exec'].includes(name.text) && node.arguments.some(isMessage)
  }
  if (!ts.isBinaryExpression(node) || !/^[!=]==?$/.test(node.operatorToken.getText(tree))) return false
  return [
    [node.left, node.right],
    [node.right, node.left],
  ].some(
    ([one, other]) =>
      ts.isStringLiteralLike(other!) &&
      other.text !== '' &&
      (isMessage(one!) || /(?:^|\W)(?:e|err|error|cause|failure)\b.*\.name$/s.test(one!.getText(tree))),
  )
}

function isSpecifier({ parent }: ts.Node): boolean {
  return (
    ts.isImportDeclaration(parent) ||
    ts.isExportDeclaration(parent) ||
    ts.isModuleDeclaration(parent) ||
    ts.isExternalModuleReference(parent)
  )
}

function edge(from: string, specifier: string, type: boolean, dynamic: boolean): Import {
  const file = specifier.startsWith('.') ? slashes(relative(root, resolve(root, dirname(from), specifier))) : ownFile(specifier)
  const library = file
    ? undefined
    : specifier.startsWith('node:')
      ? specifier
      : specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  return { specifier, file, library, type, dynamic }
}

function ownFile(specifier: string): string | undefined {
  const alias = aliases.find(({ find }) => find.test(specifier))
  return alias ? slashes(relative(root, specifier.replace(alias.find, alias.replacement))) : undefined
}

function slashes(path: string): string {
  return path.replaceAll('\\', '/')
}
