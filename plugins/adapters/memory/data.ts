/** What the adapter in memory keeps. */
import type { AdapterAccount, AdapterAuthenticator, AdapterSession, AdapterUser, VerificationToken } from 'authkernel/kernel'
import type { RecordData } from './records.ts'

/** What `memoryAdapter` keeps. Give the same one to two adapters and they share it, as two processes share a database. */
export interface MemoryData {
  users: Map<string, AdapterUser>
  accounts: Map<string, AdapterAccount>
  sessions: Map<string, AdapterSession>
  tokens: Map<string, VerificationToken>
  authenticators: Map<string, AdapterAuthenticator>
  /** Rows of plugins' records, by table. */
  records?: RecordData
}

/** An empty store for `memoryAdapter`. */
export function memoryData(): MemoryData {
  return {
    users: new Map(),
    accounts: new Map(),
    sessions: new Map(),
    tokens: new Map(),
    authenticators: new Map(),
  }
}

/** Throws when nobody has the id. */
export function needUser(data: MemoryData, userId: string, operation: string): void {
  if (!data.users.has(userId)) throw new Error(`[memory] ${operation}: no user has the id it names`)
}
