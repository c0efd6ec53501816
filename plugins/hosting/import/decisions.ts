/** What a later run does with a row: the source and this side are each compared with what they were when the row was taken. */
import type { ImportState } from 'authkernel/kernel'

/**
 * `new`: was never taken, and nothing is here. `unchanged`: both sides are as they were. `refreshed`: the source changed, this side did not. `kept`: this side
 * changed, the source did not; what was removed here stays removed. `conflict`: both changed. `removed`: it is gone at the source, and this side did not change it.
 * `refused`: it cannot be stored here.
 */
export type Decision = 'new' | 'unchanged' | 'refreshed' | 'kept' | 'conflict' | 'removed' | 'refused'

/** The entry of the ledger, as far as it decides. */
export interface TakenState {
  digest: string
  version: string | null
}

/** A row that the source has. `digest` is that of its value now; `here` undefined: nothing is here for it. */
export function decideRow(taken: TakenState | undefined, digest: string, here: ImportState | undefined): Exclude<Decision, 'refused'> {
  if (!taken) return here === undefined ? 'new' : here.same ? 'unchanged' : 'conflict'
  const ours = here !== undefined && here.version === taken.version
  if (taken.digest === digest) return ours ? 'unchanged' : 'kept'
  if (ours) return 'refreshed'
  // Both sides came to the same.
  return here?.same ? 'unchanged' : 'conflict'
}

/** An entry whose row the source no longer has. */
export function decideGone(taken: TakenState, here: ImportState | undefined): 'removed' | 'kept' | 'conflict' {
  if (here === undefined || taken.digest === '') return 'kept'
  return here.version === taken.version ? 'removed' : 'conflict'
}
