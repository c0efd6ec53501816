/** Columns that are too short for what is written today: tokens of 16 kB, account ids of 255 characters. */
import { type Kysely, sql } from 'kysely'
import type { Scope } from './introspect.ts'
import type { AnyDatabase, Column, Layout, Table } from './types.ts'

const tokens = ['access_token', 'refresh_token', 'id_token', 'scope', 'session_state', 'token_type', 'image', 'credentialPublicKey']
const keys = ['provider', 'providerAccountId', 'sessionToken', 'identifier', 'token', 'email', 'credentialID']

interface Length {
  table: string
  schema: string
  column: string
  length: number
  charset: string | null
  collation: string | null
}

/** Statements that widen them; SQLite has no lengths. */
export async function narrowColumns(db: Kysely<AnyDatabase>, { dialect }: Scope, layout: Layout): Promise<string[]> {
  if (dialect === 'sqlite') return []
  const found = await lengths(db, dialect)
  return Object.values(layout).flatMap((table: Table) =>
    [...table.columns.values()].flatMap((column) => {
      const known = found.find(
        (each) => each.table === table.name && each.column === column.name && (table.schema === undefined || each.schema === table.schema),
      )
      const least = tokens.includes(column.field) ? 16_384 : keys.includes(column.field) ? 255 : 0
      return known && Number(known.length) < least ? [widen(db, dialect, table, column, known, least)] : []
    }),
  )
}

function widen(db: Kysely<AnyDatabase>, dialect: 'postgres' | 'mysql', table: Table, column: Column, known: Length, least: number): string {
  const name = table.schema === undefined ? sql.id(table.name) : sql.id(table.schema, table.name)
  const field = sql.id(column.name)
  if (dialect === 'postgres') return sql`alter table ${name} alter column ${field} type text`.compile(db).sql
  const type = least === 255 ? 'varchar(255)' : 'mediumtext'
  // Its letters and their order stay what they are.
  const letters = known.charset ? ` character set ${known.charset} collate ${known.collation}` : ''
  const empty = column.nullable ? 'null' : 'not null'
  return sql`alter table ${name} modify column ${field} ${sql.raw(`${type}${letters} ${empty}`)}`.compile(db).sql
}

async function lengths(db: Kysely<AnyDatabase>, dialect: 'postgres' | 'mysql'): Promise<readonly Length[]> {
  const scope = dialect === 'mysql' ? sql`table_schema = database()` : sql`table_schema not in ('pg_catalog', 'information_schema')`
  const query = sql<Length>`select table_name as ${sql.id('table')}, table_schema as ${sql.id('schema')}, column_name as ${sql.id('column')},
    character_maximum_length as ${sql.id('length')}, character_set_name as ${sql.id('charset')}, collation_name as ${sql.id('collation')}
    from information_schema.columns where ${scope} and character_maximum_length is not null`
  return (await query.execute(db)).rows
}
