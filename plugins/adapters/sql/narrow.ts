/** Columns that are too short for what is written today, or take different keys for one: tokens of 16 kB, account ids of 255 characters. */
import { type Kysely, sql } from 'kysely'
import type { Scope } from './introspect.ts'
import { nameOf } from './refs.ts'
import type { AnyDatabase, Column, Layout, Table } from './types.ts'

const tokens = ['access_token', 'refresh_token', 'id_token', 'scope', 'session_state', 'token_type', 'image', 'credentialPublicKey']
const keys = ['provider', 'providerAccountId', 'sessionToken', 'identifier', 'token', 'credentialID']

interface Length {
  table: string
  schema: string
  column: string
  length: number
  charset: string | null
  collation: string | null
}

/** Statements that change them; SQLite has no lengths, and compares exactly. */
export async function narrowColumns(db: Kysely<AnyDatabase>, { dialect }: Scope, layout: Layout, binary: string): Promise<string[]> {
  if (dialect === 'sqlite') return []
  const found = await lengths(db, dialect)
  return Object.values(layout).flatMap((table: Table) =>
    [...table.columns.values()].flatMap((column) => {
      const known = found.find(
        (each) => each.table === table.name && each.column === column.name && (table.schema === undefined || each.schema === table.schema),
      )
      if (!known) return []
      const length = Number(known.length)
      if (tokens.includes(column.field)) return length < 16_384 ? [widen(db, dialect, table, column, known)] : []
      if (!keys.includes(column.field)) return []
      // An address is left to its collation: hosts ask for it in their own way.
      const inexact = dialect === 'mysql' && !known.collation?.endsWith('_bin')
      return length < 255 || inexact ? [exact(db, dialect, table, column, Math.max(255, length), binary)] : []
    }),
  )
}

function widen(db: Kysely<AnyDatabase>, dialect: 'postgres' | 'mysql', table: Table, column: Column, known: Length): string {
  // Its letters and their order stay what they are.
  const letters = known.charset ? ` character set ${known.charset} collate ${known.collation}` : ''
  return change(db, dialect, table, column, `mediumtext${letters}`)
}

function exact(
  db: Kysely<AnyDatabase>,
  dialect: 'postgres' | 'mysql',
  table: Table,
  column: Column,
  length: number,
  binary: string,
): string {
  return change(db, dialect, table, column, `varchar(${length}) character set utf8mb4 collate ${binary}`)
}

function change(db: Kysely<AnyDatabase>, dialect: 'postgres' | 'mysql', table: Table, column: Column, mysqlType: string): string {
  const field = sql.id(column.name)
  if (dialect === 'postgres') return sql`alter table ${nameOf(table)} alter column ${field} type text`.compile(db).sql
  const empty = column.nullable ? 'null' : 'not null'
  return sql`alter table ${nameOf(table)} modify column ${field} ${sql.raw(`${mysqlType} ${empty}`)}`.compile(db).sql
}

async function lengths(db: Kysely<AnyDatabase>, dialect: 'postgres' | 'mysql'): Promise<readonly Length[]> {
  const scope = dialect === 'mysql' ? sql`table_schema = database()` : sql`table_schema not in ('pg_catalog', 'information_schema')`
  const query = sql<Length>`select table_name as ${sql.id('table')}, table_schema as ${sql.id('schema')}, column_name as ${sql.id('column')},
    character_maximum_length as ${sql.id('length')}, character_set_name as ${sql.id('charset')}, collation_name as ${sql.id('collation')}
    from information_schema.columns where ${scope} and character_maximum_length is not null`
  return (await query.execute(db)).rows
}
