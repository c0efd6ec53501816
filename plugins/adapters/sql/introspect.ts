/** Finds out how a database is laid out: which tables are there, how columns hold their values, what is unique. */
import type { AdditionalFields } from 'authkernel/kernel'
import { type Kysely, sql } from 'kysely'
import { candidateNames, fieldOf, mappingOf, requiredFields } from './schema.ts'
import type { AnyDatabase, Column, DialectName, Layout, Sql, SqlNames, Table, TableName } from './types.ts'
import { columnKind } from './values.ts'

/** What of a database is looked at. */
export interface Scope {
  dialect: DialectName
  names: SqlNames
  /** PostgreSQL schema; default: those of the search path. */
  schema: string | undefined
  /** Columns of users that the host declares. */
  fields: AdditionalFields
}
interface FoundTable {
  name: string
  schema?: string | undefined
  columns: { name: string; dataType: string; isNullable: boolean; hasDefaultValue: boolean; isAutoIncrementing: boolean }[]
}
interface IndexColumn {
  table: string
  schema: string | null
  index: string
  column: string
  is_unique: number | boolean
  /** PostgreSQL: whether each row of the table has a `ctid` that no other row has. Views have none, partitions have the same ones. */
  placed?: boolean
}

/** What is there now. */
interface DatabaseLayout {
  /** Tables that are missing are left out. */
  layout: Layout
  /** Tables of something else that have the name of a missing one, where that would be made, with the fields they lack. */
  strangers: { kind: TableName; name: string; missing: string[] }[]
}

/** All tables of a database, the schemas that are looked through, and the columns of all indexes. */
export async function readCatalog(
  db: Kysely<AnyDatabase>,
  scope: Scope,
): Promise<{ found: readonly FoundTable[]; path: readonly string[] | undefined; indexes: readonly IndexColumn[] }> {
  const found = (await db.introspection.getTables()) as readonly FoundTable[]
  const path = await searchPath(db, scope)
  return { found, path, indexes: await indexColumns(db, scope.dialect) }
}

/** Looks at a database. */
export async function readLayout(db: Kysely<AnyDatabase>, scope: Scope): Promise<DatabaseLayout> {
  const { found, path, indexes } = await readCatalog(db, scope)
  const layout: Layout = {}
  const strangers: DatabaseLayout['strangers'] = []
  for (const kind of Object.keys(requiredFields) as TableName[]) {
    const table = chooseTable(kind, found, path, scope)
    if (table) layout[kind] = describeTable(kind, table, indexes, scope)
    else {
      const stranger = found.find(
        ({ name, schema }) => name === candidateNames(kind, scope.names)[0] && (path === undefined || schema === path[0]),
      )
      if (stranger) strangers.push({ kind, name: stranger.name, missing: missingFields(kind, stranger, scope) })
    }
  }
  return { layout, strangers }
}

function missingFields(kind: TableName, table: FoundTable, { names }: Scope): string[] {
  const fields = new Set([
    ...table.columns.map((column) => fieldOf(kind, column.name, names)),
    ...Object.keys(mappingOf(kind, names)?.absent ?? {}),
  ])
  return requiredFields[kind].filter((field) => !fields.has(field))
}

function chooseTable(
  kind: TableName,
  found: readonly FoundTable[],
  path: readonly string[] | undefined,
  scope: Scope,
): FoundTable | undefined {
  const { names } = scope
  for (const schema of path ?? [undefined]) {
    for (const name of candidateNames(kind, names)) {
      const table = found.find((each) => each.name === name && (schema === undefined || each.schema === schema))
      if (!table) continue
      const missing = missingFields(kind, table, scope)
      // A table `user` of something else is not ours.
      if (missing.length === 0) return table
      if (names[kind] !== undefined) {
        throw new Error(`[sql] The table ${name} has no column for ${missing.join(', ')}. Name it under names.${kind}.columns.`)
      }
    }
  }
  return undefined
}

function describeTable(kind: TableName, table: FoundTable, indexes: readonly IndexColumn[], { dialect, names }: Scope): Table {
  const columns = new Map<string, Column>()
  const mapping = mappingOf(kind, names)
  for (const { name, dataType, isNullable, hasDefaultValue, isAutoIncrementing } of table.columns) {
    const field = fieldOf(kind, name, names)
    const type = dataType.toLowerCase()
    const form = mapping?.forms?.[field]
    columns.set(field, {
      field,
      name,
      type,
      kind: columnKind(dialect, field, type, form),
      form,
      // A form that stands for none is one.
      nullable: isNullable || form === 'address',
      filled: hasDefaultValue || isAutoIncrementing,
    })
  }
  const lists = new Map<string, { unique: boolean; fields: string[] }>()
  let placed = false
  for (const each of indexes) {
    if (each.table !== table.name || (table.schema !== undefined && each.schema !== null && each.schema !== table.schema)) continue
    const list = lists.get(each.index) ?? { unique: Boolean(Number(each.is_unique)), fields: [] }
    list.fields.push(fieldOf(kind, each.column, names))
    lists.set(each.index, list)
    placed ||= each.placed === true
  }
  // MySQL's names of indexes are its tables' own; the table stands before them.
  const nameOf = (index: string): string => (dialect === 'mysql' ? index.slice(table.name.length + 1) : index)
  const unique = [...lists].filter(([, list]) => list.unique).map(([index, { fields }]) => Object.assign(fields, { name: nameOf(index) }))
  const indexed = new Set([...lists.values()].flatMap(({ fields }) => fields.slice(0, 1)))
  return { kind, name: table.name, schema: dialect === 'postgres' ? table.schema : undefined, columns, unique, indexed, placed, mapping }
}

async function searchPath(db: Kysely<AnyDatabase>, { dialect, schema }: Scope): Promise<readonly string[] | undefined> {
  if (dialect !== 'postgres') return undefined
  if (schema !== undefined) return [schema]
  const { rows } = await sql<{ name: string }>`select unnest(current_schemas(false)) as name`.execute(db)
  return rows.map(({ name }) => name)
}

/** Columns of all indexes without conditions and expressions, in order. */
async function indexColumns(db: Kysely<AnyDatabase>, dialect: DialectName): Promise<readonly IndexColumn[]> {
  const query = {
    sqlite: sql<IndexColumn>`
      select m.name as "table", null as "schema", il.name as "index", ii.name as "column", il."unique" as is_unique, ii.seqno as position
      from sqlite_master as m, pragma_index_list(m.name) as il, pragma_index_info(il.name) as ii
      where m.type = 'table' and il.partial = 0 and ii.name is not null
      union all
      select m.name, null, '', ti.name, 1, ti.pk from sqlite_master as m, pragma_table_info(m.name) as ti where m.type = 'table' and ti.pk > 0
      order by 3, 6`,
    postgres: sql<IndexColumn>`
      select t.relname as "table", n.nspname as "schema", ic.relname as "index", a.attname as "column", case when i.indisunique then 1 else 0 end as is_unique,
        ${isPlaced()} as placed
      from pg_index i
      join pg_class t on t.oid = i.indrelid join pg_class ic on ic.oid = i.indexrelid join pg_namespace n on n.oid = t.relnamespace
      join lateral unnest(i.indkey::int2[]) with ordinality as k(attnum, position) on true
      join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum
      where i.indpred is null and i.indexprs is null and i.indisvalid and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
      order by ic.relname, k.position`,
    mysql: sql<IndexColumn>`
      select table_name as ${sql.id('table')}, null as ${sql.id('schema')}, concat(table_name, '.', index_name) as ${sql.id('index')},
        column_name as ${sql.id('column')}, 1 - non_unique as is_unique
      from information_schema.statistics where table_schema = database()
      order by table_name, index_name, seq_in_index`,
  }[dialect]
  return (await query.execute(db)).rows
}

/**
 * An SQL condition over `pg_class t`: an ordinary table without children. In a partitioned table, and in one that other tables inherit from, each part
 * counts its rows again, so one `ctid` names several rows. Views and tables of some distributed databases have none.
 */
export function isPlaced(): Sql {
  return sql`(t.relkind = 'r' and not t.relhassubclass and exists (select from pg_attribute c where c.attrelid = t.oid and c.attname = 'ctid'))`
}

/** Whether the database itself keeps these fields unique. */
export function isUnique(table: Table, ...fields: string[]): boolean {
  return table.unique.some((list) => list.every((field) => fields.includes(field)))
}
