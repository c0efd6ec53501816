/** Where the playground keeps its data: a folder that survives restarts, or memory. */
import type { Adapter } from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs-lite'

/** An open store. */
export interface PlaygroundStore {
  adapter: Adapter
  /** AUTH_SECRET, or one that is kept with the data so that sessions survive a restart, too. */
  secret: string
  /** In words, for the start message. */
  place: string
}

const ownFolder = fileURLToPath(new URL('.data', import.meta.url))

/** `memory`, or a folder. A folder that another playground has open is left alone: this one then forgets. */
export async function openStore(wished: string = ownFolder): Promise<PlaygroundStore> {
  if (wished === 'memory') return inMemory('in memory, gone when this ends')
  await mkdir(wished, { recursive: true })
  const adapter = unstorageAdapter(createStorage({ driver: fsDriver({ base: join(wished, 'store') }) }))
  try {
    await adapter.getUser('nobody')
  } catch (error) {
    return inMemory(`in memory: ${error instanceof Error ? error.message : 'the folder cannot be used'}`)
  }
  return {
    adapter,
    secret: process.env.AUTH_SECRET ?? (await keptSecret(join(wished, 'secret'))),
    place: relative(process.cwd(), wished) || wished,
  }
}

function inMemory(place: string): PlaygroundStore {
  return { adapter: memoryAdapter(), secret: process.env.AUTH_SECRET ?? randomBytes(32).toString('hex'), place }
}

async function keptSecret(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    const secret = randomBytes(32).toString('hex')
    await writeFile(file, secret, { mode: 0o600 })
    return secret
  }
}
