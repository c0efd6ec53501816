/** What the source of a preset says about it: the comment on its factory, its options, its profile, its mapping. Read with the TypeScript compiler. */
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const folder = fileURLToPath(new URL('../plugins/providers/', import.meta.url))

/** A member of an interface or a type. */
export interface Field {
  name: string
  type: string
  required: boolean
  text: string
}
export interface ProviderSource {
  /** After "Register: ". */
  register: string
  notes: string[]
  see: string
  deprecated: string | undefined
  options: Field[]
  /** Names of the required options, one list per way to give them. */
  ways: string[][]
  profileName: string
  profileText: string
  profile: Field[]
  /** Member of the user to expression; undefined: the default mapping. */
  mapping: [member: string, expression: string][] | undefined
  emailVerified: string | undefined
}

/** Ids of the presets of identity providers, sorted. */
export function providerIds(): string[] {
  return readdirSync(folder)
    .filter((file) => /type: '(?:oauth|oidc)'|from '\.\//.test(readFileSync(folder + file, 'utf8')))
    .map((file) => file.replace(/\.ts$/, ''))
    .sort()
}

/** Throws when a preset lacks what every preset has. */
export function readProvider(id: string): ProviderSource {
  const source = ts.createSourceFile(id, readFileSync(`${folder}${id}.ts`, 'utf8'), ts.ScriptTarget.ES2022, true)
  const factory = source.statements.find(ts.isFunctionDeclaration)
  const base = baseOf(source)
  if (factory && base) return { ...readProvider(base), ...wordsOf(factory), profileName: profileAlias(source) }
  const profile = source.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text.endsWith('Profile'))
  const options = source.statements.find(
    (node) => (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) && node.name.text.endsWith('Options'),
  )
  if (!factory || !profile || !ts.isInterfaceDeclaration(profile))
    throw new Error(`plugins/providers/${id}.ts has no factory or no profile`)
  return {
    ...wordsOf(factory),
    options: options ? optionsOf(options) : [],
    ways: options ? waysOf(options) : [],
    profileName: profile.name.text,
    profileText: commentOf(profile).text,
    profile: profile.members.filter(ts.isPropertySignature).map(fieldOf),
    ...mappingOf(factory),
  }
}

// What the comment on a factory says.
function wordsOf(factory: ts.Node): Pick<ProviderSource, 'register' | 'notes' | 'see' | 'deprecated'> {
  const comment = commentOf(factory)
  const [intro = '', ...notes] = comment.text.split(/\n- /)
  return {
    register: (/Register: ([\s\S]*)$/.exec(intro)?.[1] ?? '').replaceAll('\n', ' ').replace(/\.$/, ''),
    notes: notes.map((note) => note.replace(/\s*\n\s*/g, ' ')),
    see: comment.tags['see'] ?? '',
    deprecated: comment.tags['deprecated'],
  }
}

// A preset that is another one under its own id imports it.
function baseOf(source: ts.SourceFile): string | undefined {
  const imported = source.statements.filter(ts.isImportDeclaration).find(({ importClause }) => importClause?.name)
  return imported && /^'\.\/(.*)\.ts'$/.exec(imported.moduleSpecifier.getText(source))?.[1]
}

function profileAlias(source: ts.SourceFile): string {
  return source.statements.filter(ts.isTypeAliasDeclaration).find(({ name }) => name.text.endsWith('Profile'))?.name.text ?? ''
}

function commentOf(node: ts.Node): { text: string; tags: Record<string, string> } {
  const doc = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc)
  const tags = (doc?.tags ?? []).map((tag) => {
    const written = tag
      .getText()
      .replace(/^@\w+\s*/, '')
      .replace(/\s*\n\s*\*?\s*/g, ' ')
    return [tag.tagName.text, written.trim()]
  })
  return { text: ts.getTextOfJSDocComment(doc?.comment) ?? '', tags: Object.fromEntries(tags) as Record<string, string> }
}

function fieldOf(node: ts.PropertySignature): Field {
  return {
    name: node.name.getText().replace(/^'|'$/g, ''),
    type: (node.type?.getText() ?? 'unknown')
      .replace(/\s*\|\s*undefined$/, '')
      .replace(/(?<![{|(])\n\s*(?![|})])/g, '; ')
      .replace(/\s+/g, ' '),
    required: node.questionToken === undefined,
    text: commentOf(node).text.replaceAll('\n', ' '),
  }
}

// Alternatives name each other as `?: undefined`; of fields that are in several the first counts.
function optionsOf(node: ts.Node): Field[] {
  const found = new Map<string, Field>()
  const visit = (child: ts.Node): void => {
    if (ts.isPropertySignature(child) && child.type?.kind !== ts.SyntaxKind.UndefinedKeyword) {
      const field = fieldOf(child)
      if (!found.has(field.name)) found.set(field.name, field)
    } else ts.forEachChild(child, visit)
  }
  ts.forEachChild(node, visit)
  return [...found.values()]
}

// Intersections of what every preset takes with one literal, or with a union of them.
function waysOf(node: ts.Node): string[][] {
  const ways: string[][] = []
  const visit = (child: ts.Node): void => {
    if (ts.isTypeLiteralNode(child))
      ways.push(
        child.members
          .filter(ts.isPropertySignature)
          .filter(isDemanded)
          .map(({ name }) => name.getText()),
      )
    else ts.forEachChild(child, visit)
  }
  if (ts.isTypeAliasDeclaration(node)) visit(node.type)
  return ways
}

function isDemanded({ name, questionToken, type }: ts.PropertySignature): boolean {
  // The environment may bring the issuer, so the type does not ask for it; the host app or the environment has to give it.
  return questionToken === undefined || (name.getText() === 'issuer' && type?.kind !== ts.SyntaxKind.UndefinedKeyword)
}

function mappingOf(factory: ts.FunctionDeclaration): Pick<ProviderSource, 'mapping' | 'emailVerified'> {
  let mapping: ProviderSource['mapping']
  let emailVerified: string | undefined
  const clean = (node: ts.Node): string => node.getText().replace(/\s+/g, ' ')
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'profile') mapping ??= membersOf(node.initializer, clean)
    else if (ts.isPropertyAssignment(node) && node.name.getText() === 'emailVerified' && ts.isArrowFunction(node.initializer)) {
      emailVerified = clean(node.initializer.body).replace(/^\((.*)\)$/, '$1')
    } else ts.forEachChild(node, visit)
  }
  visit(factory)
  return { mapping, emailVerified }
}

function membersOf(node: ts.Node, clean: (node: ts.Node) => string): [string, string][] | undefined {
  if (ts.isObjectLiteralExpression(node) && node.properties.some((property) => property.name?.getText() === 'id')) {
    return node.properties.filter(ts.isPropertyAssignment).map((property) => [property.name.getText(), clean(property.initializer)])
  }
  return ts.forEachChild(node, (child) => membersOf(child, clean))
}
