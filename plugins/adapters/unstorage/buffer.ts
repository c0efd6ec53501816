/** A transaction that remembers what it read and will write. */
import type { Key, Transaction, Write } from './types.ts'

/** What a finished `work` leaves: the writes, in order. */
export interface Buffer extends Transaction {
  writes(): Write[]
}

/** `read` gets a stored value by path; undefined and null mean absent. */
export function createBuffer(read: (path: string) => Promise<unknown>, paths: (base: string) => Promise<string[]>): Buffer {
  const writes = new Map<string, Write>()
  const stored = async (path: string): Promise<unknown> =>
    writes.has(path) ? (writes.get(path)!.value ?? null) : ((await read(path)) ?? null)
  return {
    async get({ path, legacy }) {
      const value = await stored(path)
      return value === null && legacy !== undefined ? stored(legacy) : value
    },
    put({ path, legacy }, value, expires) {
      writes.set(path, { path, value, expires })
      // The old copy would come back when the new one is removed.
      if (legacy !== undefined) writes.set(legacy, { path: legacy })
    },
    remove({ path, legacy }) {
      writes.set(path, { path })
      if (legacy !== undefined) writes.set(legacy, { path: legacy })
    },
    paths,
    writes: () => [...writes.values()],
  }
}

/** Reads a key through `read`, at its place or its former one. */
export async function readKey(read: (path: string) => Promise<unknown>, { path, legacy }: Key): Promise<unknown> {
  const value = (await read(path)) ?? null
  return value === null && legacy !== undefined ? ((await read(legacy)) ?? null) : value
}
