/** Says which tables a host needs and its database lacks. */
import type { AdapterMethod, MissingPart } from 'authkernel/kernel'
import type { Database } from './database.ts'
import { candidateNames, columnNameOf } from './schema.ts'
import type { TableName } from './types.ts'

/** Names of missing tables and of missing columns that the host declared, and of a column of addresses that should take NULL, as `migrate` would make them. Users, accounts and one-time marks are always needed. */
export async function missingTables(
  database: Database,
  operations: readonly (AdapterMethod | 'nullableEmail')[],
): Promise<(string | MissingPart)[]> {
  const needed = new Set<TableName>(['users', 'accounts', 'tokens'])
  for (const operation of operations) {
    if (operation.includes('Session')) needed.add('sessions')
    if (operation.includes('Authenticator')) needed.add('authenticators')
  }
  const missing: (string | MissingPart)[] = []
  for (const kind of needed) {
    const table = await database.maybe(kind)
    if (!table) missing.push(candidateNames(kind, database.names)[0] ?? kind)
    else if (kind === 'users') {
      const email = table.columns.get('email')
      // Columns that are there belong to the host: `migrate` changes none.
      if (email && !email.nullable && operations.includes('nullableEmail'))
        missing.push({ name: `${table.name}.${email.name} that may be NULL`, remedy: 'change the column by a custom migration' })
      missing.push(
        ...Object.keys(database.fields).flatMap((field) =>
          table.columns.has(field) ? [] : [`${table.name}.${columnNameOf(kind, field, database.names)}`],
        ),
      )
    }
  }
  // They will be added.
  if (missing.length > 0) database.forget()
  return missing
}
