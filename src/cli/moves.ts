/** What `doctor` says of an app that moves from another product: what was not taken over yet, with the command that does it. */
import type { Auth } from 'authkernel/kernel'
import type { ImportReport } from 'authkernel/plugins/import'
import type { Finding } from './report.ts'

const command = 'npx authkernel migrate --from better-auth --apply'

/** Rows whose content is compared as well. More of them would keep `doctor` for minutes. */
const maxRows = 20_000

/** What `betterAuthCompatPlugin` puts on `auth`. */
interface Compares {
  compare(): Promise<readonly { kind: string; there: number; taken: number }[]>
  takeOver(): Promise<Pick<ImportReport, 'kinds'>>
}

/** Compares what the other product has with what was taken. Empty for an app that does not move. */
export async function findMoves(auth: Auth): Promise<Finding[]> {
  const moves = (auth as { betterAuth?: Partial<Compares> }).betterAuth
  if (!moves?.compare) return []
  const finding = (message: string): Finding[] => [{ level: 'error', code: 'move', message }]
  try {
    const compared = await moves.compare()
    const left = compared.filter(({ there, taken }) => there > taken)
    if (left.length > 0) {
      const facts = left.map(({ kind, there, taken }) => `${there - taken} of ${there} ${kind}`).join(', ')
      return finding(`${facts} of better-auth were not taken over. Run \`${command}\`; without --apply it says what it would do.`)
    }
    const rows = compared.reduce((sum, { there, taken }) => sum + Math.max(there, taken), 0)
    if (rows === 0 || rows > maxRows || !moves.takeOver) return []
    const changed = listChanged((await moves.takeOver()).kinds)
    if (changed.length === 0) return []
    return finding(
      `${changed.join(', ')} of better-auth changed since they were taken over. Run \`${command}\`; without --apply it says what it would do.`,
    )
  } catch (error) {
    return finding(`The tables of better-auth could not be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What a run would do: one row that went and one that came leave the counts as they are. */
function listChanged(kinds: ImportReport['kinds']): string[] {
  return Object.entries(kinds).flatMap(([kind, { new: fresh, refreshed, removed, conflict }]) => {
    const count = fresh + refreshed + removed + conflict
    return count > 0 ? [`${count} ${kind}`] : []
  })
}

/** For an app that moves, tables are made by the command that also takes over what is in the others. */
export function nameMove(auth: Auth, findings: readonly Finding[]): Finding[] {
  if (!(auth as { betterAuth?: object }).betterAuth) return [...findings]
  return findings.map((each) => ({ ...each, message: each.message.replaceAll('npx authkernel migrate --apply', command) }))
}
