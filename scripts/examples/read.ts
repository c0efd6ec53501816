/** Reads the one-line examples of this folder as text, so that what docs/reference shows is what the compiler has checked. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const folder = fileURLToPath(new URL('./', import.meta.url))

/** By the name of the interface, in lower camel case, then by member; further overloads are `member 2`, `member 3`. */
export function readExamples(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const found = new Map<string, Map<string, string>>()
  for (const file of readdirSync(folder).filter((name) => name !== 'read.ts')) {
    const source = ts.createSourceFile(file, readFileSync(folder + file, 'utf8'), ts.ScriptTarget.ES2022, true)
    source.forEachChild((node) => {
      if (!ts.isVariableStatement(node)) return
      for (const { name, initializer } of node.declarationList.declarations)
        if (initializer && ts.isObjectLiteralExpression(initializer))
          found.set(name.getText().replace(/Examples$/, ''), linesOf(initializer, wrapperOf(name.getText())))
    })
  }
  return found
}

type Wrap = (key: string, arrow: ts.ArrowFunction) => string
const asIs: Wrap = (_key, { body }) =>
  (ts.isBlock(body) ? body.statements : [body]).map((part) => oneLine(inner(part).getText())).join('; ')
const asHook: Wrap = (key, arrow) => `auth.hook('${key}', ${whole(arrow)})`
const asListener: Wrap = (key, arrow) => `auth.on('${key}', ${whole(arrow)})`

function whole(arrow: ts.ArrowFunction): string {
  const { body } = arrow
  if (!ts.isBlock(body)) return oneLine(arrow.getText())
  const head = arrow.getText().slice(0, body.getStart() - arrow.getStart())
  return `${oneLine(head)}{ ${body.statements.map((part) => oneLine(part.getText())).join('; ')} }`
}

function wrapperOf(name: string): Wrap {
  if (name === 'hooksExamples') return asHook
  return name === 'eventsExamples' ? asListener : asIs
}

function linesOf(object: ts.ObjectLiteralExpression, wrap: Wrap): Map<string, string> {
  const lines = new Map<string, string>()
  for (const property of object.properties)
    if (ts.isPropertyAssignment(property) && ts.isArrowFunction(property.initializer)) {
      const key = ts.isStringLiteral(property.name) ? property.name.text : property.name.getText()
      lines.set(key, wrap(key, property.initializer))
    }
  return lines
}

function inner(node: ts.Node): ts.Node {
  return ts.isParenthesizedExpression(node) && ts.isObjectLiteralExpression(node.expression) ? node.expression : node
}

function oneLine(text: string): string {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .replace(/,\s*([\])])/g, '$1')
    .replace(/,\s*\}/g, ' }')
    .replace(/([([]) /g, '$1')
}
