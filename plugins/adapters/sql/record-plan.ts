/** What the tables of records lack: tables, columns, indexes. Nothing is dropped, and no type is changed. */
import type { StoredField } from 'authkernel/kernel'
import { type Kysely, sql } from 'kysely'
import { readCatalog, type Scope } from './introspect.ts'
import type { Plan } from './migrate.ts'
import { indexesOf, type RecordIndex } from './record-model.ts'
import { columnName, columnOf, literalOf, type RecordColumn, type RecordTable, tableName } from './record-table.ts'
import { binaryCollation } from './schema.ts'
import type { AnyDatabase, DialectName } from './types.ts'

type Column = Awaited<ReturnType<typeof readCatalog>>['found'][number]['columns'][number]

/** What makes the tables of an empty database. */
export async function createRecords(db: Kysely<AnyDatabase>, scope: Scope, tables: readonly RecordTable[]): Promise<string[]> {
  const collation = scope.dialect === 'mysql' ? await binaryCollation(db) : ''
  return tables.flatMap((table) => [
    createTable(db, table, collation),
    ...indexesOf(table).map((index) => createRecordIndex(db, table, index, false)),
  ])
}

/** Statements in order, notes for the developer, and what is missing in words. */
export async function planRecords(
  db: Kysely<AnyDatabase>,
  scope: Scope,
  tables: readonly RecordTable[],
): Promise<Plan & { lacks: readonly string[] }> {
  const [statements, notes, lacks]: [string[], string[], string[]] = [[], [], []]
  if (tables.length === 0) return { statements, notes, lacks }
  const { found, path, indexes } = await readCatalog(db, scope)
  const collation = scope.dialect === 'mysql' ? await binaryCollation(db) : ''
  const broken = scope.dialect === 'postgres' ? await brokenIndexes(db) : []
  for (const table of tables) {
    const there = found.find(({ name, schema }) => name === table.name && (path === undefined || path.includes(schema ?? '')))
    if (!there) {
      statements.push(createTable(db, table, collation), ...indexesOf(table).map((index) => createRecordIndex(db, table, index, false)))
      lacks.push(`table ${table.name}`)
      continue
    }
    const missing = missingColumns(db, table, there.columns, collation)
    statements.push(...missing.statements)
    lacks.push(...missing.lacks)
    notes.push(...missing.notes, ...describeDifferences(table, there.columns))
    // PostgreSQL indexes no partitioned table while rows are written.
    const ordinary = scope.dialect !== 'postgres' || indexes.some((each) => each.table === table.name && each.placed === true)
    for (const index of indexesOf(table)) {
      const lists = new Map<string, { unique: boolean; columns: string[] }>()
      for (const each of indexes) {
        if (each.table !== table.name || (there.schema !== undefined && each.schema !== null && each.schema !== there.schema)) continue
        const list = lists.get(each.index) ?? { unique: Boolean(Number(each.is_unique)), columns: [] }
        list.columns.push(each.column)
        lists.set(each.index, list)
      }
      if ([...lists.values()].some((list) => servesIndex(list, index))) continue
      lacks.push(`index ${index.name}`)
      const absent = index.fields.filter((field) => !there.columns.some(({ name }) => name === columnOf(table, field).name))
      if (broken.includes(index.name))
        notes.push(
          `${table.name}: the index ${index.name} was left unfinished. Drop it (\`drop index ${index.name}\`), then migrate again.`,
        )
      else if (index.unique && absent.length === 0 && (await hasDuplicates(db, table, index.fields)))
        notes.push(`${table.name}: values of (${index.fields.join(', ')}) occur more than once. Merge those rows, then migrate again.`)
      else statements.push(createRecordIndex(db, table, index, ordinary))
    }
  }
  return { statements, notes, lacks }
}

function servesIndex(
  { unique, columns }: { unique: boolean; columns: readonly string[] },
  { columns: wanted, unique: mustBeUnique }: RecordIndex,
): boolean {
  if (mustBeUnique) return unique && columns.length === wanted.length && columns.every((name) => wanted.includes(name))
  return wanted.every((name, at) => columns[at] === name)
}

function createTable(db: Kysely<AnyDatabase>, table: RecordTable, collation: string): string {
  const columns = [...table.columns.values()].map((each) => sql`${sql.id(each.name)} ${sql.raw(columnDefinition(table, each, collation))}`)
  const key = sql`primary key (${columnName(table, 'ns')}, ${columnName(table, 'id')})`
  return sql`create table if not exists ${tableName(table)} (${sql.join([...columns, key])})`.compile(db).sql
}

/** Type, and what fills rows that are there already. */
function columnDefinition(table: RecordTable, { field, name, type, optional }: RecordColumn, collation: string): string {
  const fieldSpec = table.stored.fields.find((each) => each.name === field)
  const max = fieldSpec?.max ?? 64
  const sqlType = sqlTypeOf(table.dialect, type, max, collation)
  // MySQL gives texts no default; rows without a value read as the default all the same.
  if (optional || (type === 'text' && fieldSpec?.default !== undefined)) return sqlType
  const preset = fieldSpec?.default
  const fill =
    preset === undefined || preset === null ? '' : ` default ${literalOf(table.dialect, { field, name, type, optional }, preset)}`
  return `${sqlType} not null${fill}`
}

function sqlTypeOf(dialect: DialectName, type: StoredField['type'], max: number, collation: string): string {
  const types: Record<DialectName, Record<StoredField['type'], string>> = {
    postgres: { string: 'text collate "C"', text: 'text', integer: 'bigint', boolean: 'boolean', date: 'timestamptz(3)' },
    mysql: {
      string: `varchar(${max}) character set utf8mb4 collate ${collation}`,
      text: `mediumtext character set utf8mb4 collate ${collation}`,
      integer: 'bigint',
      boolean: 'boolean',
      date: 'datetime(3)',
    },
    sqlite: { string: 'text', text: 'text', integer: 'integer', boolean: 'integer', date: 'text' },
  }
  return types[dialect][type]
}

function missingColumns(
  db: Kysely<AnyDatabase>,
  table: RecordTable,
  found: readonly Column[],
  collation: string,
): { statements: string[]; notes: string[]; lacks: string[] } {
  const absent = [...table.columns.values()].filter(({ name }) => !found.some((each) => each.name === name))
  const fits = (each: RecordColumn): boolean =>
    each.optional || table.stored.fields.some(({ name, default: preset }) => name === each.field && preset !== undefined && preset !== null)
  return {
    lacks: absent.map(({ name }) => `column ${table.name}.${name}`),
    statements: absent
      .filter(fits)
      .map(
        (each) =>
          sql`alter table ${tableName(table)} add column ${sql.id(each.name)} ${sql.raw(columnDefinition(table, each, collation))}`.compile(
            db,
          ).sql,
      ),
    notes: absent
      .filter((each) => !fits(each))
      .map(
        ({ field }) =>
          `${table.name}: the field "${field}" is required, and rows that are there have no value for it. Declare it \`optional\` or give it a \`default\`.`,
      ),
  }
}

const families: Record<StoredField['type'], RegExp> = {
  string: /char|text/,
  text: /char|text/,
  integer: /int/,
  boolean: /bool|int/,
  date: /time|date|text/,
}

/** Columns that hold something else than what is declared now. */
function describeDifferences(table: RecordTable, found: readonly Column[]): string[] {
  return [...table.columns.values()].flatMap(({ field, name, type, optional }) => {
    const there = found.find((each) => each.name === name)
    if (!there) return []
    if (!families[type].test(there.dataType.toLowerCase()))
      return [`${table.name}.${name} is ${there.dataType}, and the field "${field}" is now a ${type}. Change the column manually.`]
    const preset = table.stored.fields.find((each) => each.name === field)?.default
    if (there.isNullable && !optional && preset === undefined)
      return [
        `${table.name}.${name} may be null, and the field "${field}" is now required. Fill it, then \`alter\` the column to \`not null\`.`,
      ]
    return []
  })
}

function createRecordIndex(db: Kysely<AnyDatabase>, table: RecordTable, { name, fields, unique }: RecordIndex, written: boolean): string {
  // Rows are written meanwhile. A table that is made now is empty.
  const quietly = written && table.dialect === 'postgres' ? sql` concurrently` : sql``
  const columns = fields.map((field) => {
    const first = table.dialect === 'postgres' && columnOf(table, field).optional ? sql` nulls first` : sql``
    return sql`${columnName(table, field)}${first}`
  })
  return sql`create ${unique ? sql`unique index` : sql`index`}${quietly} ${sql.id(name)} on ${tableName(table)} (${sql.join(columns)})`.compile(
    db,
  ).sql
}

async function hasDuplicates(db: Kysely<AnyDatabase>, table: RecordTable, fields: readonly string[]): Promise<boolean> {
  const columns = fields.map((field) => columnName(table, field))
  const present = sql.join(
    columns.map((each) => sql`${each} is not null`),
    sql` and `,
  )
  const query = sql`select 1 as one from ${tableName(table)} where ${present} group by ${sql.join(columns)} having count(*) > 1 limit 1`
  return (await query.execute(db)).rows.length > 0
}

async function brokenIndexes(db: Kysely<AnyDatabase>): Promise<string[]> {
  const query = sql<{
    name: string
  }>`select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid where not i.indisvalid`
  return (await query.execute(db)).rows.map(({ name }) => name)
}
