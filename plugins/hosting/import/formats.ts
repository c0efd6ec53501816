/** Files of exports: JSON, lines of JSON, and CSV, read row by row, so that a file of any size needs the same memory. */
import { AuthError } from 'authkernel/kernel'
import type { ExportedRow } from './sources/shape.ts'

// Characters that are looked at to tell the formats apart, and the longest line that is read whole.
const headLength = 1_048_576
const longestLine = 16_777_216

/**
 * The rows of a file, which is given in pieces. The file is a list in JSON, a JSON document whose keys `lists` hold lists, one JSON value a line, or CSV with a first line of names. Throws AuthError for text that is none of these, with the number of the line where there is one.
 */
export async function* readExportedRows(file: AsyncIterable<Uint8Array>, lists: readonly string[]): AsyncGenerator<ExportedRow> {
  const chunks = file[Symbol.asyncIterator]()
  const decoder = new TextDecoder()
  const pieces: Uint8Array[] = []
  let head = ''
  for (let done = false; !done && head.length < headLength && !hasWholeLine(head);) {
    const next = await chunks.next()
    done = next.done === true
    if (next.done) head += decoder.decode()
    else {
      pieces.push(next.value)
      head += decoder.decode(next.value, { stream: true })
    }
  }
  const whole = joinChunks(pieces, chunks)
  const begin = head.replace(/^\uFEFF/, '').trimStart()
  if (begin === '') return
  if (begin[0] === '[') yield* readDocument(whole, undefined)
  else if (begin[0] !== '{') yield* readCsv(whole)
  else if (isWhole(begin.split('\n', 1)[0]!)) yield* readLines(whole, lists)
  else yield* readDocument(whole, lists)
}

/** Whether `text` has a line with more than spaces, and its end. */
function hasWholeLine(text: string): boolean {
  const start = text.search(/\S/)
  return start >= 0 && text.includes('\n', start)
}

async function* joinChunks(first: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** A line may also be a page of an API: an object with one of the lists. */
async function* readLines(file: AsyncIterable<Uint8Array>, lists: readonly string[]): AsyncGenerator<ExportedRow> {
  let number = 0
  for await (const line of splitLines(file)) {
    number++
    const text = number === 1 ? line.replace(/^\uFEFF/, '').trim() : line.trim()
    if (text === '') continue
    const row = parseLine(text, number)
    const list = lists.map((name) => row[name]).find(Array.isArray)
    if (list) yield* list as ExportedRow[]
    else yield row
  }
}

async function* splitLines(file: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of file) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > longestLine) throw new AuthError(`import: a line of the file is longer than ${longestLine} characters.`)
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

function parseLine(text: string, number: number): ExportedRow {
  try {
    const row: unknown = JSON.parse(text)
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as ExportedRow
  } catch {
    // Told below, without the text: it may have a hash in it.
  }
  throw new AuthError(`import: line ${number} of the file is no JSON object.`)
}

/** `lists` undefined: the document is a list. */
async function* readDocument(file: AsyncIterable<Uint8Array>, lists: readonly string[] | undefined): AsyncGenerator<ExportedRow> {
  const [{ pick, streamArray, streamValues }, { pipeline, Readable }] = [await loadJson(), await import('node:stream')]
  const items = lists ? streamValues.asStream() : streamArray.withParserAsStream()
  const parts = lists ? [pick.withParserAsStream({ filter: new RegExp(`^(?:${lists.join('|')})\\.\\d+$`) }), items] : [items]
  // The iterator throws what fails on the way.
  pipeline([Readable.from(file), ...parts], () => undefined)
  try {
    for await (const { value } of items as AsyncIterable<{ value: unknown }>) {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) yield value as ExportedRow
    }
  } catch (error) {
    throw new AuthError('import: the file is no JSON that can be read.', { cause: { err: error as Error } })
  }
}

async function* readCsv(file: AsyncIterable<Uint8Array>): AsyncGenerator<ExportedRow> {
  const [{ parse }, { pipeline, Readable }] = [await loadCsv(), await import('node:stream')]
  const items = parse({ bom: true, columns: true, skip_empty_lines: true, relax_column_count: false, max_record_size: longestLine })
  pipeline(Readable.from(file), items, () => undefined)
  try {
    yield* items as AsyncIterable<ExportedRow>
  } catch (error) {
    const { lines } = error as { lines?: number }
    throw new AuthError(`import: the file is no CSV with a first line of names${lines === undefined ? '' : `: see line ${lines}`}.`)
  }
}

function isWhole(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}

async function loadJson() {
  try {
    const [{ pick }, { streamArray }, { streamValues }] = await Promise.all([
      import('stream-json/filters/pick.js'),
      import('stream-json/streamers/stream-array.js'),
      import('stream-json/streamers/stream-values.js'),
    ])
    return { pick, streamArray, streamValues }
  } catch (error) {
    throw new AuthError(
      'import: a JSON document needs the package stream-json: npm install stream-json. Files with one object a line need none.',
      {
        cause: { err: error as Error },
      },
    )
  }
}

async function loadCsv() {
  try {
    return await import('csv-parse')
  } catch (error) {
    throw new AuthError('import: CSV needs the package csv-parse: npm install csv-parse.', { cause: { err: error as Error } })
  }
}
