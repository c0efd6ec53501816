/** Kysely over PGlite: PostgreSQL inside the process, for tests and embedded use. */
import { type Dialect, PostgresDialect, type PostgresPoolClient } from 'kysely'

/** The part of a `PGlite` instance that is used. */
export interface PgliteClient {
  query(statement: string, parameters?: unknown[]): Promise<{ rows: unknown[]; affectedRows?: number | undefined }>
  close(): Promise<void>
}

/** A Kysely dialect for `new Kysely({ dialect: pgliteDialect(new PGlite('folder')) })`. */
export function pgliteDialect(client: PgliteClient): Dialect {
  // One connection: a statement beside an open transaction would be part of it.
  let last: Promise<unknown> = Promise.resolve()
  return new PostgresDialect({
    pool: {
      async connect() {
        const before = last
        let release = (): void => {}
        last = new Promise<void>((resolve) => (release = resolve))
        await before
        return { query: (statement: string, parameters: unknown[]) => run(client, statement, parameters), release } as PostgresPoolClient
      },
      end: () => client.close(),
    },
  })
}

async function run(client: PgliteClient, statement: string, parameters: unknown[]): Promise<object> {
  const { rows, affectedRows } = await client.query(statement, parameters)
  return { rows, rowCount: affectedRows ?? rows.length, command: /^\s*(\w+)/.exec(statement)?.[1]?.toUpperCase() }
}
