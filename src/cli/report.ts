/** What a command found: data for `--json`, lines for users. One place decides which of them is printed, and in which colours. */

/** Result of a command. */
export interface Report {
  /** Printed by `--json`. */
  data: Record<string, unknown>
  lines: string[]
  /** Exit code 1 when false. Default true. */
  ok?: boolean
}

/** What every command gets. */
export interface Setting {
  env: Record<string, string | undefined>
  cwd: string
  paint: Paint
  /** Prints before the report, where a user looks at a terminal and can answer questions; else undefined. */
  ask?: ((text: string) => void) | undefined
  /** Prints before the end of the command; nothing with `--json`. */
  print(text: string): void
  /** A line that the next one replaces; shown where a user looks at a terminal. */
  progress(text: string): void
  /** How far long work is, on stderr, so that it does not mix with the report. `replaces`: each line takes the place of the one before. */
  status: { readonly replaces: boolean; write(text: string): void }
}

/** Something to change; `error` stops sign-ins, `warning` weakens them. */
export interface Finding {
  level: 'error' | 'warning'
  /** Stable, for scripts. */
  code: string
  message: string
}

/** A mistake in the typed command: printed without a stack. */
export class UsageError extends Error {}

/** Styles for terminals; plain text everywhere else. */
export interface Paint {
  strong(text: string): string
  faint(text: string): string
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
}

/** Colours only where a user looks at a terminal: https://no-color.org */
export function createPaint(stream: { isTTY?: boolean | undefined }, env: Record<string, string | undefined>): Paint {
  const on = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const style = (open: number, close: number) => (text: string) => (on ? `\u001B[${open}m${text}\u001B[${close}m` : text)
  return { strong: style(1, 22), faint: style(2, 22), good: style(32, 39), bad: style(31, 39), warn: style(33, 39) }
}

/** Rows with aligned columns; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)))
  return rows.map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  '))
}
