/** What `doctor` says of an app that moves from another product: what was not taken over yet, with the command that does it. */
import type { Auth } from 'authkernel/kernel'
import type { Finding } from './report.ts'

const command = 'npx authkernel migrate --from better-auth --apply'

/** What `betterAuthCompatPlugin` puts on `auth`. */
interface Compares {
  compare(): Promise<readonly { kind: string; there: number; taken: number }[]>
}

/** Compares what the other product has with what was taken. Empty for an app that does not move. */
export async function findMoves(auth: Auth): Promise<Finding[]> {
  const moves = (auth as { betterAuth?: Partial<Compares> }).betterAuth
  if (!moves?.compare) return []
  const finding = (message: string): Finding[] => [{ level: 'error', code: 'move', message }]
  try {
    const left = (await moves.compare()).filter(({ there, taken }) => there > taken)
    if (left.length === 0) return []
    const facts = left.map(({ kind, there, taken }) => `${there - taken} of ${there} ${kind}`).join(', ')
    return finding(`${facts} of better-auth were not taken over. Run \`${command}\`; without --apply it says what it would do.`)
  } catch (error) {
    return finding(`The tables of better-auth could not be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** For an app that moves, tables are made by the command that also takes over what is in the others. */
export function nameMove(auth: Auth, findings: readonly Finding[]): Finding[] {
  if (!(auth as { betterAuth?: object }).betterAuth) return [...findings]
  return findings.map((each) => ({ ...each, message: each.message.replaceAll('npx authkernel migrate --apply', command) }))
}
