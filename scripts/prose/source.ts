/** Prose in TypeScript: comments of exported names, and strings that are sentences (errors, logs, pages, mails in English). */
import { parseSync } from 'oxc-parser'
import { checkProse, isSuspicious } from './check.ts'

/** A piece of prose and its place in the file. */
interface Piece {
  index: number
  text: string
}
interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

const languages = new Set(['de', 'fr', 'es', 'pt', 'it', 'nl', 'ja', 'ar', 'he', 'pl'])
const fewestWords = 5

/** Messages about one source file, as `line message`. */
export function checkSource(path: string, text: string): string[] {
  if (!isSuspicious(text, text.match(/\/\*\*[\s\S]*?\*\/|(['`])(?:\\.|(?!\1)[^\\])*\1/g)?.map(readDocstring) ?? [])) return []
  const { program, comments } = parseSync(path, text)
  const pieces: Piece[] = []
  const exported = (program.body as unknown as Node[]).filter(({ type }) => type.startsWith('Export'))
  for (const { type, value, start, end } of comments)
    if (type === 'Block' && value.startsWith('*') && exported.some((node) => belongsTo(node, start, end, text)))
      for (const text of readDocstring(value).split(/\n\s*\n|\n(?=- |@)/)) pieces.push({ index: start, text: text.replace(/^@\w+ ?/, '') })
  collectStrings(program as unknown as Node, pieces)
  return pieces.flatMap((piece) => {
    const line = text.slice(0, piece.index).split('\n').length
    return checkProse(piece.text).map(({ message }) => `${line} ${message}`)
  })
}

// A comment of an exported name stands right before it, or before a member of it.
function belongsTo(node: Node, start: number, end: number, text: string): boolean {
  return (start > node.start && end < node.end) || (end <= node.start && text.slice(end, node.start).trim() === '')
}

function readDocstring(value: string): string {
  return value
    .replace(/^\*/, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/```[\s\S]*?```/g, '')
    .replace(/\{@link ([^}]*)\}/g, '$1')
    .replace(/https?:\/\/\S+/g, 'x')
    .trim()
}

function collectStrings(node: Node, pieces: Piece[]): void {
  const text = textOf(node)
  if (text !== undefined && !isCode(text) && text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length >= fewestWords)
    pieces.push({ index: node.start, text })
  for (const [key, value] of Object.entries(node)) {
    if (key === 'typeAnnotation' || value === null || typeof value !== 'object') continue
    for (const child of (Array.isArray(value) ? value : [value]) as (Node | null)[])
      if (child && typeof child.type === 'string' && !isTranslation(child)) collectStrings(child, pieces)
  }
}

// Pictures, scripts, queries and lists of words are strings of many words, and no sentences.
function isCode(text: string): boolean {
  return /^\s*(<|\(\(\) =>|(with|select|insert|update) )/.test(text) || text.startsWith('\n') || /^[a-z\d -]{80,}$/.test(text)
}

function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined
  if (node.type !== 'TemplateLiteral') return undefined
  return (node['quasis'] as { value: { cooked: string | null } }[]).map(({ value }) => value.cooked ?? '').join('x')
}

// `de: { … }` and `const de = { … }`: the texts of another language.
function isTranslation({ type, key, id }: Node): boolean {
  const name = type === 'Property' ? key : type === 'VariableDeclarator' ? id : undefined
  return languages.has((name as { name?: string } | undefined)?.name ?? '')
}
