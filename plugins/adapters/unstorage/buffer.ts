/** A transaction that remembers what it read and will write. */
import type { Key, Transaction, Write } from './types.ts'

/** What a finished `work` leaves: the writes, in order. */
export interface Buffer extends Transaction {
  writes(): Write[]
  /** Changes of sorted sets. */
  changes(): { set: string; member: string; present: boolean }[]
}

/** `read` gets a stored value by path; undefined and null mean absent. */
export function createBuffer(
  read: (path: string) => Promise<unknown>,
  paths: (base: string) => Promise<string[]>,
  members: (set: string) => Promise<readonly string[]>,
  peek: (path: string) => Promise<unknown> = read,
): Buffer {
  const writes = new Map<string, Write>()
  const changes = new Map<string, { set: string; member: string; present: boolean }>()
  const readStored = async (path: string): Promise<unknown> =>
    writes.has(path) ? (writes.get(path)!.value ?? null) : ((await read(path)) ?? null)
  return {
    async get({ path, legacy }) {
      const value = await readStored(path)
      return value === null && legacy !== undefined ? readStored(legacy) : value
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
    peek,
    members,
    change: (set, member, present) => void changes.set(JSON.stringify([set, member]), { set, member, present }),
    writes: () => [...writes.values()],
    changes: () => [...changes.values()],
  }
}

/** Reads a key through `read`, at its place or its former one. */
export async function readKey(read: (path: string) => Promise<unknown>, { path, legacy }: Key): Promise<unknown> {
  const value = (await read(path)) ?? null
  return value === null && legacy !== undefined ? ((await read(legacy)) ?? null) : value
}
