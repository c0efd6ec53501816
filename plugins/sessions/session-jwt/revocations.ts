/**
 * Tokens that count as ended: rows in records with one head row, of which each process has a copy. A session read looks into the copy. While
 * sessions are read, the head is read once in half of the staleness; rows are read when it has changed.
 */
import { type Kernel, lazily, type Revocations, type Shared } from 'authkernel/kernel'
import type { Copy, Entry } from './revocation-rows.ts'

// A read that finds the copy fresh needs none of it.
const load = /* @__PURE__ */ lazily(() => import('./revocation-list.ts'))

/** `staleness` in seconds. The copy is shared by the kernels of one host. */
export function createRevocations(kernel: Kernel, shared: Shared, staleness: number): Revocations {
  const known = shared.cache<Revocations & Copy>('revocations')
  const existing = known.get('copy')
  if (existing) return existing
  const copy: Revocations & Copy = {
    entries: new Map<string, Entry>(),
    freshUntil: 0,
    renewAt: 0,
    head: undefined,
    last: 0,
    complete: true,
    sync: () => shared.flight('revocations', async () => (await load()).sync(kernel, copy, staleness)),
    ended: async (key) => (await load()).ended(kernel, key),
    revoke: async ({ settings: { namespace } }, revocations, seconds) =>
      (await load()).revoke(kernel, copy, { namespace, revocations, seconds }),
  }
  known.set('copy', copy)
  return copy
}
