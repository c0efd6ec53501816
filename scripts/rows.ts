/**
 * Writes docs/rows.md: which numbered row of the specification is proved by which test, read from the names of the tests.
 * `--check` writes nothing and fails when the file is not what the names say.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../', import.meta.url))
const target = join(root, 'docs/rows.md')
const last = 379

/** Markdown of docs/rows.md. */
export function rowsPage(): string {
  const proofs = new Map<number, Map<string, number>>()
  for (const file of testFiles(join(root, 'test'))) {
    for (const title of titles(file)) {
      for (const row of rowNumbers(title)) {
        const path = file.slice(root.length).replaceAll('\\', '/')
        const tests = proofs.get(row) ?? new Map<string, number>()
        proofs.set(row, tests)
        tests.set(path, (tests.get(path) ?? 0) + 1)
      }
    }
  }
  const rows = Array.from({ length: last }, (_, i) => i + 1)
  const missing = rows.filter((row) => !proofs.has(row))
  const lines = rows
    .filter((row) => proofs.has(row))
    .map(
      (row) => `| ${row} | ${[...(proofs.get(row) ?? [])].map(([path, count]) => `${path}${count > 1 ? ` (${count})` : ''}`).join(', ')} |`,
    )
  return [
    '# Rows',
    '',
    'Every testable sentence of the specification has a number. This page says which tests are named after which row;',
    'it is written by `npm run rows` from the names of the tests, and a test fails when it is out of date.',
    '',
    `${rows.length - missing.length} of ${rows.length} rows have a test.${missing.length > 0 ? ` Without one: ${ranges(missing)}.` : ''}`,
    '',
    '| Row | Tests |',
    '|---|---|',
    ...lines,
    '',
  ].join('\n')
}

/** Row numbers that a title names: `row 5`, `rows 5, 7 and 9`, `rows 5 to 9`. */
export function rowNumbers(title: string): number[] {
  return [...title.matchAll(/\brows? (\d+(?:(?:, ?(?:and )?| and | to | ?[-–] ?)\d+)*)/gi)].flatMap(([, list = '']) =>
    list.split(/, ?(?:and )?| and /).flatMap((part) => {
      const [from = 0, to = from] = part.split(/ to | ?[-–] ?/).map(Number)
      return from >= 1 && to <= last && to >= from ? Array.from({ length: to - from + 1 }, (_, i) => from + i) : []
    }),
  )
}

function titles(file: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ['it', 'test', 'describe'].includes(rootName(node.expression))) {
      const [title] = node.arguments
      if (title && ts.isStringLiteralLike(title)) found.push(title.text)
      else if (title && ts.isTemplateExpression(title))
        found.push(title.head.text + title.templateSpans.map(({ literal }) => literal.text).join(' '))
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true))
  return found
}

function rootName(node: ts.Node): string {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isTaggedTemplateExpression(node)) return rootName(node.tag)
  return ts.isPropertyAccessExpression(node) || ts.isCallExpression(node) ? rootName(node.expression) : ''
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testFiles(path)
      return entry.name.endsWith('.ts') ? [path] : []
    })
}

function ranges(numbers: number[]): string {
  const groups: [number, number][] = []
  for (const number of numbers) {
    const group = groups.at(-1)
    if (group && group[1] === number - 1) group[1] = number
    else groups.push([number, number])
  }
  return groups.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const page = rowsPage()
  if (!process.argv.includes('--check')) writeFileSync(target, page)
  else if (readFileSync(target, 'utf8') !== page) throw new Error('docs/rows.md is out of date: run `npm run rows`')
  console.log(page.split('\n')[5])
}
