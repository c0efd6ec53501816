/** `authkernel explain <error type>`: when an error happens and what to do, from the page of errors that comes with the package. */
import { existsSync, readFileSync } from 'node:fs'
import { didYouMean } from 'authkernel/kernel'
import { packageRoot } from './package.ts'
import { type Report, type Setting, UsageError } from './report.ts'

/** Throws UsageError for a type that the page does not know, with the nearest one; without a type it lists all. */
export function explain(given: string | undefined, { paint }: Pick<Setting, 'paint'>): Report {
  const rows = readErrorRows()
  const types = rows.map(({ type }) => type)
  if (given === undefined) return { data: { types }, lines: [types.join(', '), '', 'authkernel explain <type> says what to do.'] }
  // As it is in a log, or in the URL of an error page.
  const type = /[?&]error=([\w-]+)/.exec(given)?.[1] ?? given
  const row = rows.find((each) => each.type.toLowerCase() === type.toLowerCase())
  if (!row) throw new UsageError(`There is no error type "${type}".${didYouMean(type, types)} \`authkernel explain\` lists all.`)
  const where = row.visible === 'yes' ? 'The browser sees the type.' : 'The browser sees "Configuration" only; the log has the rest.'
  return {
    data: { ...row },
    lines: [
      `${paint.strong(row.type)} ${paint.faint(`status ${row.status}, page ${row.page}`)}`,
      '',
      row.when,
      '',
      `${paint.good('To do:')} ${row.remedy}`,
      paint.faint(where),
    ],
  }
}

interface Row {
  type: string
  when: string
  page: string
  visible: string
  status: string
  remedy: string
}

function readErrorRows(): Row[] {
  const file = new URL('docs/errors.md', packageRoot())
  if (!existsSync(file)) throw new UsageError(`${file.pathname} is missing: install authkernel again.`)
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line): Row[] => {
    const [, type, when, page, visible, status, remedy] = line.split(/(?<!\\)\|/).map((cell) => plainCell(cell.trim()))
    const name = /^`(\w+)`$/.exec(line.split('|')[1]?.trim() ?? '')?.[1]
    if (!name || type === undefined || remedy === undefined || remedy === '') return []
    return [{ type: name, when: when ?? '', page: page ?? '', visible: visible ?? '', status: status ?? '', remedy }]
  })
}

function plainCell(cell: string): string {
  return cell.replaceAll('\\|', '|').replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
}
