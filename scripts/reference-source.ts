/** Interfaces and exports with their comments, read from the sources with the TypeScript parser: no type is computed, so it takes no time. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../src/', import.meta.url))

/** A member of an interface, or an export. */
export interface Member {
  name: string
  type: string
  /** Its comment on one line; '' for none. */
  text: string
  /** Of an interface. */
  members?: Member[]
}

const sources = new Map<string, ts.SourceFile>()
function sourceOf(path: string): ts.SourceFile {
  let source = sources.get(path)
  if (!source) sources.set(path, (source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true)))
  return source
}

/** Throws for an interface that src/contract does not have. */
export function readInterface(name: string): { text: string; members: Member[] } {
  for (const file of readdirSync(join(root, 'contract'))) {
    const found = sourceOf(join(root, 'contract', file)).statements.find(
      (node): node is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(node) && node.name.text === name,
    )
    if (found)
      return {
        text: commentOf(found),
        members: shared(found.members.filter(isNamed).map(memberOf)).filter(({ text }) => !text.startsWith('Deprecated')),
      }
  }
  throw new Error(`src/contract has no interface ${name}.`)
}

// Overloads may share the comment of the first.
function shared(members: Member[]): Member[] {
  return members.map((member) =>
    member.text === '' ? { ...member, text: members.find(({ name, text }) => name === member.name && text !== '')?.text ?? '' } : member,
  )
}

/** Exports of a module of src/, sorted; deprecated ones are left out. */
export function readExports(file = 'kernel/index.ts'): Member[] {
  return [...exportsOf(join(root, file))].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Names of what people fill in: every member of such an interface has a sentence. */
const filledIn = /(?:Options|Config|Params|Limits|Spec|Query|Rule)$/

/** Members without a sentence of the options that a public module exports, as `interface.member`. `entry` is its file below the root of the repository. */
export function silentOptions(entry: string): string[] {
  return exportsOf(join(root, '..', entry))
    .filter(({ name }) => filledIn.test(name))
    .flatMap(({ name, members = [] }) => members.filter(({ text }) => text === '').map((member) => `${name}.${member.name}`))
}

function exportsOf(path: string): Member[] {
  const source = sourceOf(path)
  const found = new Map<string, Member>()
  for (const node of source.statements) {
    if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      if (!node.moduleSpecifier.text.startsWith('.')) continue
      const target = join(dirname(path), node.moduleSpecifier.text)
      // What is exported as a type alone cannot be called.
      const all = exportsOf(target).filter(({ type }) => !node.isTypeOnly || type === 'interface' || type === 'type')
      const names = node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : undefined
      for (const member of all) {
        const alias = names?.find(({ name, propertyName }) => (propertyName ?? name).text === member.name)
        if (!names || alias) found.set(alias?.name.text ?? member.name, { ...member, name: alias?.name.text ?? member.name })
      }
    } else if (isExported(node))
      for (const member of declared(node)) if (member.text !== '' || !found.has(member.name)) found.set(member.name, member)
  }
  return [...found.values()].filter(({ text }) => !text.startsWith('Deprecated'))
}

function isExported(node: ts.Statement): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
}

function declared(node: ts.Statement): Member[] {
  const text = commentOf(node)
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.map(({ name }) => ({ name: name.getText(), type: 'value', text }))
  if (ts.isFunctionDeclaration(node) && node.name) return [{ name: node.name.text, type: signatureOf(node), text }]
  if (ts.isClassDeclaration(node) && node.name) return [{ name: node.name.text, type: 'class', text }]
  if (ts.isInterfaceDeclaration(node))
    return [{ name: node.name.text, type: 'interface', text, members: shared(node.members.filter(isNamed).map(memberOf)) }]
  if (ts.isTypeAliasDeclaration(node)) return [{ name: node.name.text, type: 'type', text }]
  return []
}

function isNamed(node: ts.TypeElement): node is ts.PropertySignature | ts.MethodSignature | ts.GetAccessorDeclaration {
  return ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isGetAccessorDeclaration(node)
}

function memberOf(node: ts.PropertySignature | ts.MethodSignature | ts.GetAccessorDeclaration): Member {
  const name = `${node.name.getText()}${'questionToken' in node && node.questionToken ? '?' : ''}`
  const type = ts.isMethodSignature(node) ? signatureOf(node) : (node.type?.getText() ?? 'unknown')
  return { name, type, text: commentOf(node) }
}

function signatureOf(node: ts.MethodSignature | ts.FunctionDeclaration): string {
  return `(${node.parameters.map((parameter) => parameter.getText()).join(', ')}) => ${node.type?.getText() ?? 'void'}`
}

function commentOf(node: ts.Node): string {
  const doc = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).at(-1)
  const text = ts.getTextOfJSDocComment(doc?.comment)?.replace(/\s+/g, ' ').trim() ?? ''
  return doc?.tags?.some((tag) => tag.tagName.text === 'deprecated') ? `Deprecated. ${text}` : text
}
