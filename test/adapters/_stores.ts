/** Opens an adapter by a plain description, so that a test and the processes it starts can open the same store. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Adapter } from 'authkernel/kernel'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'
import fsLiteDriver from 'unstorage/drivers/fs-lite'
import redisDriver from 'unstorage/drivers/redis'
import { servers, uniqueName } from './_servers.ts'

/** A store that any process can open. */
export type StoreSpec = { kind: 'fs' | 'fs-lite'; folder: string } | { kind: 'redis'; base: string }

/** An empty store of a kind. */
export function newStore(kind: StoreSpec['kind']): StoreSpec {
  if (kind === 'redis') return { kind, base: uniqueName() }
  return { kind, folder: mkdtempSync(join(tmpdir(), 'authkernel-')) }
}

/** An adapter over a store. */
export function openStore(spec: StoreSpec): Adapter {
  return unstorageAdapter(storageOf(spec))
}

/** The storage of an unstorage store. */
export function storageOf(spec: StoreSpec): ReturnType<typeof createStorage> {
  if (spec.kind === 'redis') return createStorage({ driver: redisDriver({ url: servers.redis, base: spec.base }) })
  return createStorage({ driver: spec.kind === 'fs' ? fsDriver({ base: spec.folder }) : fsLiteDriver({ base: spec.folder }) })
}

/** Removes a store with all that is in it. */
export async function dropStore(spec: StoreSpec): Promise<void> {
  if (spec.kind === 'redis') {
    const storage = storageOf(spec)
    await storage.clear()
    await storage.dispose()
  } else {
    await rm(spec.folder, { recursive: true, force: true })
  }
}
