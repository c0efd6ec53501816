/** The report of a move: lines for users, and a page of HTML that stands alone. */
import type { ImportProblem, ImportReport, KindReport } from 'authkernel/plugins/import'
import { type Paint, table } from './report.ts'

const columns = ['new', 'refreshed', 'unchanged', 'kept', 'conflict', 'removed', 'refused'] as const

/** Lines of a report. `command` is what the operator types next, without `--apply`. */
export function describeMove(report: ImportReport, command: string, paint: Paint): string[] {
  const { good, bad, faint } = paint
  const { kinds, problems, refused, applied } = report
  const rows = Object.entries(kinds).map(([kind, counts]) => [kind, String(counts.found), ...columns.map((name) => String(counts[name]))])
  const counts = rows.length > 0 ? [...table([['', 'found', ...columns], ...rows]), '', ...describeCounts(report)] : []
  const shown = problems.map((problem) => describeProblem(problem, refused, paint))
  const last = applied
    ? good('Taken over.')
    : refused.length > 0
      ? bad(`Nothing was written. What stops \`--apply\`: ${refused.join(', ')}. Solve it, or accept each by its name.`)
      : faint(`Nothing was changed. \`${command} --apply\` does it.`)
  return [...counts, ...shown, last]
}

/** One problem, and how it is accepted. */
export function describeProblem(problem: ImportProblem, refused: readonly string[], { bad, warn, faint }: Paint): string {
  const open = refused.includes(problem.name)
  const paint = problem.level === 'note' ? warn : open ? bad : faint
  const accept = problem.level === 'note' ? '' : open ? ` (accept it: --accept ${problem.name})` : ' (accepted)'
  return `${paint(problem.level === 'note' ? 'note' : open ? 'stop' : 'accepted')} ${problem.message}${accept}${examplesOf(problem)}`
}

/** The same as a page that needs nothing else, with the first `lines` that the command prints. Every text of the database is escaped. */
export function drawMove(report: ImportReport, command: string, lines: readonly string[]): string {
  const { kinds, problems, refused } = report
  const cells = (tag: string, values: readonly string[]): string =>
    `<tr>${values.map((value) => `<${tag}>${escapeHtml(value)}</${tag}>`).join('')}</tr>`
  const counts = Object.entries(kinds).map(([kind, each]) =>
    cells('td', [kind, String(each.found), ...columns.map((name) => String(each[name]))]),
  )
  const rows = problems.map(({ name, level, count, message, examples = [] }) =>
    cells('td', [
      name,
      level === 'note' ? 'note' : refused.includes(name) ? 'stops' : 'accepted',
      String(count),
      message,
      examples.join(', '),
    ]),
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(`Move from ${report.source}`)}</title>
<style>body{font:15px/1.5 system-ui;margin:2rem;max-width:75rem}table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #bbb;padding:.3rem .6rem;text-align:left;vertical-align:top}</style>
</head><body><h1>${escapeHtml(`Move from ${report.source}`)}</h1>
<p>${report.applied ? 'Taken over.' : refused.length > 0 ? 'Nothing was written: some problems are open.' : `Nothing was changed. Run: <code>${escapeHtml(command)} --apply</code>`}</p>
<p>${lines.map(escapeHtml).join('<br>')}</p>
<table>${cells('th', ['', 'found', ...columns])}${counts.join('')}</table>
<p>${describeCounts(report).map(escapeHtml).join('<br>')}</p>
<table>${cells('th', ['name', 'state', 'count', 'what it means', 'examples'])}${rows.join('')}</table>
</body></html>
`
}

/** `passwords: 17 here before, 34 after`. */
function describeCounts({ before, after, applied, kinds }: ImportReport): string[] {
  return Object.entries(before).map(([kind, was]) => {
    const counts: KindReport | undefined = kinds[kind]
    const next = applied ? after[kind] : was + (counts ? counts.new - counts.removed : 0)
    return `${kind}: ${was} here before, ${next} ${applied ? 'after' : 'afterwards'}`
  })
}

function examplesOf({ examples = [] }: ImportProblem): string {
  if (examples.length === 0) return ''
  return `\n     ${examples.slice(0, 10).join(', ')}${examples.length > 10 ? ' …' : ''}`
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replaceAll(/[&<>"']/g, (letter) => entities[letter]!)
}
