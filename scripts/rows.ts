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
const sections = JSON.parse(readFileSync(join(root, 'scripts/rows.json'), 'utf8')) as Record<string, Record<string, string>>
const last = 379
// Rows that a decision (docs/differences.md) changes; 4 by D61, 267 by D62.
const changed: Record<number, string> = {
  4: 'D61',
  14: 'D40, D43',
  17: 'D40',
  64: 'D3',
  67: 'D30',
  73: 'D57',
  77: 'D2',
  78: 'D2',
  93: 'D2',
  94: 'D2',
  97: 'D46',
  98: 'D37',
  111: 'D5',
  112: 'D5',
  121: 'D38',
  151: 'D44',
  153: 'D16',
  154: 'D44',
  157: 'D25',
  166: 'D32',
  178: 'D47',
  179: 'D47',
  213: 'D3',
  216: 'D29',
  218: 'D39',
  238: 'D14, D52',
  241: 'D14, D52',
  264: 'D38',
  267: 'D62',
  268: 'D21',
}

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
  const tests = (row: number): string =>
    [...(proofs.get(row) ?? [])].map(([path, count]) => `${path}${count > 1 ? ` (${count})` : ''}`).join(', ')
  const lines = Object.entries(sections).flatMap(([section, sentences]) => [
    `## ${section}`,
    '',
    '| Row | Rule | Tests |',
    '|---|---|---|',
    ...Object.entries(sentences).map(
      ([row, rule]) => `| ${row} | ${rule}${changed[Number(row)] ? ` (changed by ${changed[Number(row)]})` : ''} | ${tests(Number(row))} |`,
    ),
    '',
  ])
  return [
    '# Rows',
    '',
    'The specification of authkernel is a list of numbered rules. Comments and tests cite them as "row 12".',
    'This page has each rule and the tests that are named after it. `npm run rows` writes it; a test fails when it is out of date.',
    'A rule that is marked with a D-number holds as [the list of differences](differences.md) changes it.',
    '',
    `${rows.length - missing.length} of ${rows.length} rows have a test.${missing.length > 0 ? ` Without one: ${ranges(missing)}.` : ''}`,
    '',
    ...lines,
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

const suites = /^(?:it|test|describe|test(?:Adapter|Binding|Provider|Services|Session|Flow))$/

/** Names of tests, of sampled flows, and of the contract suites of authkernel/testing: their first argument, or its property `name`. */
function titles(file: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && suites.test(rootName(node.expression))) {
      const title = node.arguments[0] && nameOf(node.arguments[0])
      if (title && ts.isStringLiteralLike(title)) found.push(title.text)
      else if (title && ts.isTemplateExpression(title))
        found.push(title.head.text + title.templateSpans.map(({ literal }) => literal.text).join(' '))
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true))
  return found
}

function nameOf(argument: ts.Expression): ts.Expression | undefined {
  if (!ts.isObjectLiteralExpression(argument)) return argument
  return argument.properties.filter(ts.isPropertyAssignment).find(({ name }) => name.getText() === 'name')?.initializer
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
  console.log(page.split('\n').find((line) => line.includes('have a test')))
}
