/**
 * Tokens that count as ended: rows in records with one head row, of which each process has a copy. A session read looks into the copy. While
 * sessions are read, the head is read once in half of the staleness; rows are read when it has changed.
 */
import { type Kernel, lazily, type Revocations, type SharedState } from 'authkernel/kernel'
import type { RevocationCopy, RevocationEntry } from './tables.ts'

// A read that finds the copy fresh needs none of it.
const load = /* @__PURE__ */ lazily(() => import('./revocation-list.ts'))

/** `staleness` in seconds. The copy is shared by the kernels of one host. */
export function createRevocations(kernel: Kernel, shared: SharedState, staleness: number): Revocations {
  const known = shared.cache<Revocations & RevocationCopy>('revocations')
  const existing = known.get('copy')
  if (existing) return existing
  const copy: Revocations & RevocationCopy = {
    entries: new Map<string, RevocationEntry>(),
    freshUntil: 0,
    renewAt: 0,
    head: undefined,
    last: 0,
    complete: true,
    sync: () => shared.flight('revocations', async () => (await load()).syncCopy(kernel, copy, staleness)),
    ended: async (key) => (await load()).isEnded(kernel, key),
    revoke: async ({ settings: { namespace } }, revocations, seconds) =>
      (await load()).writeRevocations(kernel, copy, { namespace, revocations, seconds }),
  }
  known.set('copy', copy)
  return copy
}
