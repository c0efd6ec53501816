/** Reading of single fields: exports write one thing in several ways. */
import type { ImportedAccount, ExportedRow } from './shape.ts'

/** A text that is not empty, of a text or a number; undefined: there is none. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The id of a row. Throws TypeError that names the field. */
export function idOf(row: ExportedRow, ...names: readonly string[]): string {
  const id = names.map((name) => textOf(row[name])).find((found) => found !== undefined)
  if (id === undefined || id.length > 255) throw new TypeError(`the row has no \`${names[0]}\` of 1 to 255 characters`)
  return id
}

/** Whether something is true: `true`, `"true"`, `1`, `t`, and a date, as CSV files and databases write it. */
export function isTrue(value: unknown): boolean {
  if (value instanceof Date) return true
  return value === true || value === 1 || (typeof value === 'string' && /^(?:true|t|1|yes|\d{4}-\d\d-\d\d.*)$/i.test(value))
}

/** A list of rows: as it is, or as the text of JSON that CSV files and databases hold. */
export function rowsOf(value: unknown): ExportedRow[] {
  const list = typeof value === 'string' ? parseJson(value) : value
  return Array.isArray(list) ? list.filter((row): row is ExportedRow => typeof row === 'object' && row !== null) : []
}

/** An object: as it is, or as the text of JSON. */
export function objectOf(value: unknown): ExportedRow {
  const found = typeof value === 'string' ? parseJson(value) : value
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as ExportedRow) : {}
}

/** Values of a list, or of a text with a separator: `a|b`, `a,b`. */
export function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => textOf(one) ?? [])
  return typeof value === 'string'
    ? value
        .split(/[|,]/)
        .map((one) => one.trim())
        .filter((one) => one !== '')
    : []
}

/** A date of a Date, of ISO 8601, or of milliseconds; undefined: there is none. */
export function dateOf(value: unknown): Date | undefined {
  if (value === null || value === undefined || value === '') return undefined
  const text = typeof value === 'string' && /^\d{9,16}$/.test(value) ? Number(value) : value
  const date = value instanceof Date ? value : new Date(text as string | number)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** A field with a date; nothing for a value that is none. */
export function readDate<K extends string>(name: K, value: unknown): { [P in K]?: Date } {
  const date = dateOf(value)
  return (date ? { [name]: date } : {}) as { [P in K]?: Date }
}

/** First and last name as one; undefined: there is none. */
export function nameOf(...parts: readonly unknown[]): string | undefined {
  return textOf(
    parts
      .flatMap((part) => textOf(part) ?? [])
      .join(' ')
      .trim(),
  )
}

/** An account, with the provider under its name here. */
export function accountOf(names: Readonly<Record<string, string>>, provider: unknown, id: unknown): ImportedAccount[] {
  const [given, providerAccountId] = [textOf(provider), textOf(id)]
  if (given === undefined || providerAccountId === undefined) return []
  return [{ provider: Object.hasOwn(names, given) ? names[given]! : given, providerAccountId }]
}

/** A number in E.164, without what users put between digits; undefined: it is none. */
export function numberOf(value: unknown): string | undefined {
  const text = textOf(value)?.replace(/[\s().-]/g, '')
  return text !== undefined && /^\+[1-9]\d{5,14}$/.test(text) ? text : undefined
}

/** The names of what is there. */
export function droppedOf(parts: Readonly<Record<string, boolean>>): { dropped?: string[] } {
  const dropped = Object.keys(parts).filter((name) => parts[name])
  return dropped.length > 0 ? { dropped } : {}
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
