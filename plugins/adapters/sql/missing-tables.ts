/** Says which tables a host needs and its database lacks. */
import type { AdapterMethod } from 'authkernel/kernel'
import type { Database } from './database.ts'
import { candidates } from './names.ts'
import type { TableName } from './types.ts'

/** Names of missing tables, as `migrate` would make them. Users, accounts and one-time marks are always needed. */
export async function missingTables(database: Database, operations: readonly AdapterMethod[]): Promise<string[]> {
  const needed = new Set<TableName>(['users', 'accounts', 'tokens'])
  for (const operation of operations) {
    if (operation.includes('Session')) needed.add('sessions')
    if (operation.includes('Authenticator')) needed.add('authenticators')
  }
  const missing: string[] = []
  for (const kind of needed) if (!(await database.maybe(kind))) missing.push(candidates(kind, database.names)[0] ?? kind)
  return missing
}
