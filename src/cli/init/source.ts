/** Adds to the source of an auth module: an import, an argument, a call behind it. */
import { UsageError } from '../report.ts'

/** What is added. */
export interface Addition {
  /** A whole line. */
  import: string
  /** A plugin: `webauthnPlugin()`. */
  plugin?: string
  /** A provider: `github()`. */
  provider?: string
}

const makers = /\b(createAuth|\w*Auth\$?)\s*\(/g

/** The source with the addition; the same text when its module is imported already. Throws UsageError where no auth is made. */
export function addTo(text: string, addition: Addition, file: string): string {
  const module = /from '([^']+)'/.exec(addition.import)?.[1] ?? ''
  if (new RegExp(`from ['"]${module}['"]`).test(text)) return text
  const call = findCall(text)
  if (!call)
    throw new UsageError(
      `${file} has no call of createAuth() or of a binding's factory. Add manually: ${addition.import}, ${addition.plugin ?? addition.provider}.`,
    )
  return withImport(
    addition.provider ? withProvider(text, call, addition.provider) : withPlugin(text, call, addition.plugin ?? ''),
    addition.import,
  )
}

interface Call {
  name: string
  /** Of the opening parenthesis, and behind the closing one. */
  open: number
  end: number
}

function findCall(text: string): Call | undefined {
  const blank = blankOut(text)
  for (const { 1: name = '', 0: whole, index } of blank.matchAll(makers)) {
    if (/\b(?:import|function)\b[^\n]*$/.test(blank.slice(blank.lastIndexOf('\n', index) + 1, index))) continue
    const open = index + whole.length - 1
    const end = closingBracketAt(blank, open)
    if (end !== undefined) return { name, open, end }
  }
  return undefined
}

/** Behind the parenthesis that closes the one at `open`. */
function closingBracketAt(blank: string, open: number): number | undefined {
  let depth = 0
  for (let i = open; i < blank.length; i += 1) {
    if ('([{'.includes(blank[i] ?? '')) depth += 1
    else if (')]}'.includes(blank[i] ?? '') && (depth -= 1) === 0) return i + 1
  }
  return undefined
}

/** The same length without the insides of texts and comments, whose brackets do not count. */
function blankOut(text: string): string {
  const parts = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g
  return text.replace(parts, (part) => part.replace(/[^\n]/g, ' '))
}

function withPlugin(text: string, { name, open, end }: Call, plugin: string): string {
  if (name === 'createAuth') return `${text.slice(0, end)}.use(${plugin})${text.slice(end)}`
  // A factory takes plugins behind its options.
  const inside = text.slice(open + 1, end - 1).trimEnd()
  const comma = inside === '' ? '{}, ' : inside.endsWith(',') ? ' ' : ', '
  return `${text.slice(0, open + 1)}${inside}${comma}${plugin}${text.slice(end - 1)}`
}

function withProvider(text: string, { open, end }: Call, provider: string): string {
  const blank = blankOut(text)
  const list = /\bproviders\s*:\s*\[/.exec(blank.slice(open, end))
  if (list) {
    const at = open + list.index + list[0].length
    const rest = text.slice(at).trimStart()
    return `${text.slice(0, at)}${provider}${rest.startsWith(']') ? '' : ', '}${text.slice(at)}`
  }
  const options = blank.slice(open + 1, end - 1)
  if (options.trim() === '') return `${text.slice(0, open + 1)}{ providers: [${provider}] }${text.slice(end - 1)}`
  const brace = open + 1 + options.indexOf('{')
  if (!options.includes('{'))
    throw new UsageError(`The options are not written where auth is made. Add manually: ${provider} to \`providers\`.`)
  return `${text.slice(0, brace + 1)} providers: [${provider}],${text.slice(brace + 1)}`
}

function withImport(text: string, line: string): string {
  const last = [...text.matchAll(/^import\b[\s\S]*?['"][^'"\n]+['"];?[ \t]*$/gm)].at(-1)
  if (!last) return `${line}\n${text}`
  const end = last.index + last[0].length
  return `${text.slice(0, end)}\n${line}${last[0].trimEnd().endsWith(';') ? ';' : ''}${text.slice(end)}`
}
