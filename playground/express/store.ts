/** Where the playground keeps its data: in memory, or in a folder that survives restarts. */
import type { Adapter } from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { randomBytes } from 'node:crypto'

/** An open store. */
export interface PlaygroundStore {
  adapter: Adapter
  secret: string
  /** In words, for the start message. */
  place: string
}

export async function openStore(_wished: string | undefined): Promise<PlaygroundStore> {
  return {
    adapter: memoryAdapter(),
    secret: process.env.AUTH_SECRET ?? randomBytes(32).toString('hex'),
    place: 'in memory, gone when this ends',
  }
}
