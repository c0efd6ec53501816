/** Whether PostgreSQL finds each row of a table by where it lies, and what the table is where it does not. */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { isConnectionLost, isTransient } from './dialect.ts'
import { isPlaced } from './introspect.ts'
import { tableName } from './record-table.ts'

/** A table by its name. */
type Named = Parameters<typeof tableName>[0]
/** How rows of a table are found. */
export interface Place {
  /** Whether a `ctid` names one row. */
  placed: boolean
  /** What the table is, for errors: `a view`. */
  kind: string
}
/** How rows of tables are found. */
export interface Places {
  of(table: Named): Promise<Place>
  /** The database refused a `ctid` that its catalog has: rows of this table are found by their keys from now on. */
  refused(table: Named, error: unknown): boolean
}

const plain = 'an ordinary table'
const kinds: Readonly<Record<string, string>> = {
  r: 'a table without `ctid`, or one that other tables inherit from',
  p: 'a partitioned table',
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
}

/** Looks once for each table. */
export function createPlaces(database: Database): Places {
  const known = new WeakMap<object, Place>()
  return {
    async of(table) {
      const before = known.get(table)
      if (before || database.dialect !== 'postgres') return before ?? { placed: false, kind: plain }
      const name = tableName(table).compile(database.db).sql
      const { rows } = await database.repeat(() =>
        sql<{ placed: boolean; relkind: string }>`
          select ${isPlaced()} as placed, t.relkind::text as relkind from pg_class t where t.oid = to_regclass(${name})`.execute(
          database.db,
        ),
      )
      const [found] = rows
      const place = { placed: found?.placed === true, kind: (!found?.placed && kinds[found?.relkind ?? '']) || plain }
      // What is not there yet may be made.
      if (found) known.set(table, place)
      return place
    },
    refused(table, error) {
      if (!known.get(table)?.placed || !/\bctid\b/.test(String((error as Error).message))) return false
      known.set(table, { placed: false, kind: kinds['r']! })
      return true
    },
  }
}

/** The error of a deletion, with what the table is where that may be the reason. */
export function namePlace(name: string, { kind }: Place, error: unknown): unknown {
  if (kind === plain || isTransient(error) || isConnectionLost(error)) return error
  const { message, code } = error as { message?: unknown; code?: unknown }
  const text = `[sql] Rows of ${name}, which is ${kind}, could not be deleted: ${String(message)}`
  return Object.assign(new Error(text, { cause: error }), typeof code === 'string' && { code })
}
