/** What a server must promise, read from the server itself. */
import type { MissingPart } from 'authkernel/kernel'
import { findEviction } from '../unstorage/eviction.ts'
import type { Redis } from './client.ts'

/** What a store says of its server. */
export interface ServerFaults {
  /** What the server lacks for what the store promises. Asked by `auth.ready()` and `authkernel doctor`. */
  findFaults(): Promise<readonly MissingPart[]>
}

/** Asks each primary. One that may not be asked (a rule of access, a service that hides it) is not rejected. */
export async function findServerFaults(redis: Redis, consequence: string): Promise<readonly MissingPart[]> {
  const answers = await redis.sendToEach('INFO', 'memory').catch((): unknown[] => [])
  return findEviction(answers, consequence)
}
