/** Shows what will be written: the lines of a change with three lines around them. */
import type { Paint } from '../report.ts'
import type { Change } from './files.ts'

const around = 3

/** Lines for a terminal. Values of secrets are not shown. */
export function showChange({ path, before, after, secret }: Change, { strong, good, bad, faint }: Paint): string[] {
  const rows = compareLines(linesOf(before ?? ''), linesOf(after))
  const near = rows.map((_, at) => rows.slice(Math.max(0, at - around), at + around + 1).some(({ mark }) => mark !== ' '))
  const lines = rows.flatMap(({ mark, text }, at) => {
    if (!near[at]) return near[at - 1] ? [faint('  …')] : []
    const shown = `${mark} ${secret ? hideSecret(text) : text}`
    return [mark === '+' ? good(shown) : mark === '-' ? bad(shown) : faint(shown)]
  })
  return [strong(`${before === null ? 'new file' : 'changed'} ${path}`), ...lines, '']
}

type Row = { mark: ' ' | '+' | '-'; text: string }

/** Longest common subsequence of lines; files that a user writes are short. */
function compareLines(before: readonly string[], after: readonly string[]): Row[] {
  const lengths = Array.from({ length: before.length + 1 }, () => Array<number>(after.length + 1).fill(0))
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      lengths[i]![j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const rows: Row[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      rows.push({ mark: ' ', text: after[j] ?? '' })
      i += 1
      j += 1
    } else if (j < after.length && (i === before.length || at(i, j + 1) >= at(i + 1, j))) rows.push({ mark: '+', text: after[j++] ?? '' })
    else rows.push({ mark: '-', text: before[i++] ?? '' })
  }
  return rows
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function hideSecret(line: string): string {
  return line.replace(/^(\s*(?:export\s+)?[A-Z_\d]*(?:SECRET|KEY|PASSWORD)[A-Z_\d]*\s*=\s*).+$/, '$1…')
}
