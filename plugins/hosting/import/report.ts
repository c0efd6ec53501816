/** What a move found and did: counts for each kind, and problems that the operator accepts by name before anything is written. */

/** Rows of one kind by decision, and examples. */
export interface KindReport {
  /** Rows that the source has. */
  found: number
  new: number
  unchanged: number
  refreshed: number
  kept: number
  /** Changed on both sides. */
  conflict: number
  removed: number
  /** Rows that cannot be stored here. */
  refused: number
  /** Keys of rows that changed on both sides and wait for a decision; at most 100. */
  conflicts: string[]
  /** How many of them wait. */
  open: number
  /** Reasons of rejections with their number and up to 10 keys. */
  refusals: Record<string, { count: number; keys: string[] }>
}

/** Something that the operator must know. */
export interface ImportProblem {
  /** Accepts it: `--accept bans`. Lower case letters and hyphens. */
  name: string
  /**
   * `loss`: data would be dropped. `factor`: a second factor would be lost, or a user would get in without one. `conflict`: changed on both sides. These three stop
   * `--apply` until they are accepted. `note`: to know.
   */
  level: 'loss' | 'factor' | 'conflict' | 'note'
  /** How many rows or users. */
  count: number
  /** What is wrong, and what to do. */
  message: string
  /** Ids or names, at most 100. */
  examples?: readonly string[]
}

/** What a move answers. */
export interface ImportReport {
  source: string
  /** Whether anything was written. */
  applied: boolean
  /** Rows of the source by kind. */
  kinds: Record<string, KindReport>
  /** Rows here by table, before and after. Equal in a dry run. */
  before: Record<string, number>
  after: Record<string, number>
  problems: readonly ImportProblem[]
  /** Names of problems that stop `--apply`: none of them was accepted. */
  refused: readonly string[]
}

const examples = 100

/** Nothing was read yet. */
export function newKindReport(): KindReport {
  return {
    found: 0,
    new: 0,
    unchanged: 0,
    refreshed: 0,
    kept: 0,
    conflict: 0,
    removed: 0,
    refused: 0,
    conflicts: [],
    open: 0,
    refusals: {},
  }
}

/** Lists a row that changed on both sides. `decided`: the operator has said which side wins. */
export function noteConflict(report: KindReport, key: string, decided: boolean): void {
  if (decided) return
  report.open++
  if (report.conflicts.length < examples) report.conflicts.push(key)
}

/** Lists a row that cannot be stored. */
export function noteRefusal(report: KindReport, key: string, reason: string): void {
  const refusal = (report.refusals[reason] ??= { count: 0, keys: [] })
  refusal.count++
  if (refusal.keys.length < 10) refusal.keys.push(key)
}

/** Conflicts and rejections of a kind as problems. */
export function problemsOf(kind: string, { open, conflicts, refusals }: KindReport): ImportProblem[] {
  return [
    ...Object.entries(refusals).map(([reason, { count, keys }]): ImportProblem => ({
      name: `${kind}-refused`,
      level: 'loss',
      count,
      message: `${count} of kind ${kind} cannot be stored: ${reason}`,
      examples: keys,
    })),
    ...(open === 0
      ? []
      : [
          {
            name: `${kind}-conflicts`,
            level: 'conflict',
            count: open,
            message: `${open} of kind ${kind} changed on both sides since they were taken. Say which side wins: \`--conflicts here\` or \`--conflicts source\`.`,
            examples: conflicts,
          } satisfies ImportProblem,
        ]),
  ]
}

/** Names of problems that stop a move: neither notes, nor accepted. */
export function listOpen(problems: readonly ImportProblem[], accepted: readonly string[]): string[] {
  return [...new Set(problems.filter(({ level, name }) => level !== 'note' && !accepted.includes(name)).map(({ name }) => name))]
}
