/** Brings a database to the wanted tables: makes what is missing, widens what is too narrow, drops nothing. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { isUnique, readLayout, type Scope } from './introspect.ts'
import { binaryCollation, columnNameOf, defaultTables, generatorOf, mappingOf, sqlTypeOf, type WantedTable, wantedWith } from './schema.ts'
import { columnRef, tableRef } from './statements.ts'
import type { AnyDatabase, Column, Layout, Table } from './types.ts'

const longFields = ['access_token', 'refresh_token', 'id_token', 'scope', 'session_state', 'token_type', 'image', 'credentialPublicKey']
const keyFields = ['provider', 'providerAccountId', 'sessionToken', 'identifier', 'token', 'credentialID']

/** What a migration did, or would do. */
export interface MigrationReport {
  /** Statements in order; none when everything is there. */
  statements: readonly string[]
  /** What needs a decision manually: duplicates that stand in the way of a unique index. */
  notes: readonly string[]
  /** False for a dry run. */
  applied: boolean
}

/** What a database lacks now. */
export type Plan = Omit<MigrationReport, 'applied'>

/** Dry run unless `apply` is true. Safe to repeat, and to run in several processes at once. */
export async function runMigration(
  db: Kysely<AnyDatabase>,
  plan: () => Promise<Plan>,
  { apply = false }: { apply?: boolean } = {},
): Promise<MigrationReport> {
  const done: string[] = []
  for (;;) {
    // Executed as it was shown: what a statement makes does not change those behind it.
    const { statements, notes } = await plan()
    if (!apply || statements.length === 0) return { statements: apply ? done : statements, notes, applied: apply }
    // Never the same twice: a database that does not show what was made would be migrated for ever.
    const idle = statements.find((statement) => done.includes(statement))
    if (idle !== undefined) throw new Error(`[sql] This statement was executed and had no effect: ${idle}`)
    for (const statement of statements) {
      try {
        await sql.raw(statement).execute(db)
        done.push(statement)
      } catch (error) {
        // Another process may have been faster: then the statement is not wanted any more, and the rest is planned anew.
        if ((await plan()).statements.includes(statement)) throw error
        break
      }
    }
  }
}

/** What the five tables of the adapter lack. */
export async function planTables(db: Kysely<AnyDatabase>, scope: Scope): Promise<Plan> {
  const { layout, strangers } = await readLayout(db, scope)
  const [stranger] = strangers
  if (stranger) {
    const { kind, name, missing } = stranger
    throw new Error(
      `[sql] There is a table ${name} without a column for ${missing.join(', ')}. ` +
        `Name its columns under names.${kind}.columns, or give another table a name under names.${kind}.`,
    )
  }
  const collation = scope.dialect === 'mysql' ? await binaryCollation(db) : ''
  const owner = await findOwnerTable(db, scope, layout.users, collation)
  const statements: string[] = []
  const notes: string[] = []
  for (const whole of wantedWith(scope.fields)) {
    const absent = mappingOf(whole.kind, scope.names)?.absent ?? {}
    const want = { ...whole, columns: whole.columns.filter(({ field }) => !(field in absent)) }
    const table = layout[want.kind]
    if (!table) {
      statements.push(createTable(db, scope, want, owner, collation), ...createIndexes(db, scope, want, owner))
      continue
    }
    statements.push(...missingColumns(db, scope, want, table, collation))
    for (const fields of want.unique) {
      if (isUnique(table, ...fields)) continue
      const duplicates = await countDuplicates(db, table, fields)
      if (duplicates === 0) statements.push(uniqueIndex(db, scope, table, fields))
      else
        notes.push(
          `${table.name}: values of (${fields.join(', ')}) that occur more than once: ${duplicates}. Merge those rows, then migrate again.`,
        )
    }
    for (const field of want.index) {
      if (!table.indexed.has(field)) statements.push(plainIndex(db, scope, table.name, table.columns.get(field)!.name))
    }
  }
  statements.push(...(await narrowColumns(db, scope, layout, collation)))
  return { statements, notes }
}

function createTable(db: Kysely<AnyDatabase>, scope: Scope, want: WantedTable, owner: OwnerTable, collation: string): string {
  const { dialect, names } = scope
  const own = names[want.kind]
  const name = (typeof own === 'string' ? own : own?.table) ?? defaultTables[want.kind]
  const column = (field: string): string => columnNameOf(want.kind, field, names)
  let query = schemaBuilder(db, scope).createTable(name).ifNotExists()
  for (const { field, type, required, generated, default: value } of want.columns) {
    const sqlType = sql.raw<unknown>(field === 'userId' ? owner.type : sqlTypeOf(dialect, type, collation))
    // Kysely lists column types. Types of a column that exists come from the database.
    query = query.addColumn(column(field), sqlType as never, (each) => {
      const strict = required ? each.notNull() : each
      if (value !== undefined) return strict.defaultTo(defaultLiteral(dialect, value))
      return generated ? strict.defaultTo(sql.raw(generatorOf(dialect))) : strict
    })
  }
  // Kysely knows the columns that its builder added by type. Names are known at run time here.
  query = query.addPrimaryKeyConstraint(`${name}_pkey`, want.primary.map(column) as never)
  if (want.owned && owner.referable) {
    // As above: names of columns are known at run time.
    query = query.addForeignKeyConstraint(`${name}_user_fkey`, [column('userId')] as never, owner.table, [owner.id] as never, (each) =>
      each.onDelete('cascade'),
    )
  }
  return query.compile().sql
}

function createIndexes(db: Kysely<AnyDatabase>, scope: Scope, want: WantedTable, owner: OwnerTable): string[] {
  const own = scope.names[want.kind]
  const name = (typeof own === 'string' ? own : own?.table) ?? defaultTables[want.kind]
  const column = (field: string): string => columnNameOf(want.kind, field, scope.names)
  const isPrimary = (fields: readonly string[]): boolean => fields.join() === want.primary.join()
  // InnoDB makes an index for a foreign key, and replaces it by one that is made later: a migration that ends between would differ.
  const ofForeignKey = scope.dialect === 'mysql' && want.owned && owner.referable ? [['userId']] : []
  const begins = [want.primary, ...want.unique, ...ofForeignKey].map(([first]) => first)
  return [
    ...want.unique.filter((fields) => !isPrimary(fields)).map((fields) => indexStatement(db, scope, name, fields.map(column), true)),
    ...want.index.filter((field) => !begins.includes(field)).map((field) => plainIndex(db, scope, name, column(field))),
  ]
}

/** The table that rows of a user refer to, as it is or will be. */
interface OwnerTable {
  table: string
  id: string
  /** What a column that holds one of its ids is. */
  type: string
  /** Whether a foreign key can point to it. */
  referable: boolean
}

async function findOwnerTable(
  db: Kysely<AnyDatabase>,
  { dialect, names }: Scope,
  users: Table | undefined,
  collation: string,
): Promise<OwnerTable> {
  const own = typeof names.users === 'string' ? names.users : names.users?.table
  const id = users?.columns.get('id')!.name ?? columnNameOf('users', 'id', names)
  const owner = { table: users?.name ?? own ?? defaultTables.users, id, type: sqlTypeOf(dialect, 'key', collation), referable: true }
  if (!users) return owner
  const referable = isUnique(users, 'id')
  if (dialect !== 'mysql') return { ...owner, type: users.columns.get('id')!.type, referable }
  // InnoDB demands the same type, letters and collation on both sides, and knows nothing of the tables of other engines.
  const { rows } = await sql<{ type: string; charset: string | null; collation: string | null; engine: string | null }>`
    select c.column_type as ${sql.id('type')}, c.character_set_name as ${sql.id('charset')}, c.collation_name as ${sql.id('collation')},
      t.engine as ${sql.id('engine')}
    from information_schema.columns as c join information_schema.tables as t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = database() and c.table_name = ${users.name} and c.column_name = ${id}`.execute(db)
  const { type, charset, collation: order, engine } = rows[0]!
  const letters = charset ? ` character set ${charset} collate ${order}` : ''
  return { ...owner, type: `${type}${letters}`, referable: referable && /^innodb$/i.test(engine ?? '') }
}

function missingColumns(db: Kysely<AnyDatabase>, scope: Scope, want: WantedTable, table: Table, collation: string): string[] {
  // Required ones are there, else the table would not have been recognised; no operation needs an `id` of accounts.
  return want.columns
    .filter(({ field, required }) => !required && !table.columns.has(field))
    .map(
      ({ field, type, default: value }) =>
        schemaBuilder(db, scope)
          .alterTable(table.name)
          // Kysely lists column types. Dialects have others, with a collation.
          .addColumn(columnNameOf(want.kind, field, scope.names), sql.raw(sqlTypeOf(scope.dialect, type, collation)) as never, (each) =>
            value === undefined ? each : each.defaultTo(defaultLiteral(scope.dialect, value)),
          )
          .compile().sql,
    )
}

/** A default as SQL text: a statement that makes tables takes no parameters. */
function defaultLiteral(dialect: Scope['dialect'], value: string | number | boolean): RawBuilder<unknown> {
  if (typeof value === 'boolean') return sql.raw(dialect === 'sqlite' ? String(Number(value)) : String(value))
  // MySQL reads backslashes in texts as escapes.
  return typeof value === 'number'
    ? sql.raw(String(value))
    : sql.raw(`'${value.replaceAll(dialect === 'mysql' ? /['\\\\]/g : "'", (mark) => mark + mark)}'`)
}

function uniqueIndex(db: Kysely<AnyDatabase>, scope: Scope, table: Table, fields: readonly string[]): string {
  return indexStatement(
    db,
    scope,
    table.name,
    fields.map((field) => table.columns.get(field)!.name),
    true,
  )
}

function plainIndex(db: Kysely<AnyDatabase>, scope: Scope, table: string, column: string): string {
  return indexStatement(db, scope, table, [column], false)
}

function indexStatement(db: Kysely<AnyDatabase>, scope: Scope, table: string, columns: readonly string[], unique: boolean): string {
  const name = `${table}_${columns.join('_')}_${unique ? 'key' : 'idx'}`
  const query = schemaBuilder(db, scope)
    .createIndex(name)
    .on(table)
    .columns([...columns])
  return (unique ? query.unique() : query).compile().sql
}

function schemaBuilder(db: Kysely<AnyDatabase>, { schema }: Scope): Kysely<AnyDatabase>['schema'] {
  return (schema === undefined ? db : db.withSchema(schema)).schema
}

async function countDuplicates(db: Kysely<AnyDatabase>, table: Table, fields: readonly string[]): Promise<number> {
  const columns = sql.join(fields.map((field) => columnRef(table, field)))
  const present = sql.join(
    fields.map((field) => sql`${columnRef(table, field)} is not null`),
    sql` and `,
  )
  const query = sql<{
    n: unknown
  }>`select count(*) as n from (select 1 as one from ${tableRef(table)} where ${present} group by ${columns} having count(*) > 1) as d`
  return Number((await query.execute(db)).rows[0]?.n ?? 0)
}

/** Statements that change them; SQLite has no lengths, and compares exactly. */
async function narrowColumns(db: Kysely<AnyDatabase>, { dialect }: Scope, layout: Layout, binary: string): Promise<string[]> {
  if (dialect === 'sqlite') return []
  const found = await readLengths(db, dialect)
  return Object.values(layout).flatMap((table: Table) =>
    [...table.columns.values()].flatMap((column) => {
      const known = found.find(
        (each) => each.table === table.name && each.column === column.name && (table.schema === undefined || each.schema === table.schema),
      )
      if (!known) return []
      const length = Number(known.length)
      if (longFields.includes(column.field)) return length < 16_384 ? [widenText(db, dialect, table, column, known)] : []
      if (!keyFields.includes(column.field)) return []
      // An address is left to its collation: hosts ask for it in their own way.
      const inexact = dialect === 'mysql' && !known.collation?.endsWith('_bin')
      return length < 255 || inexact ? [makeExact(db, dialect, table, column, Math.max(255, length), binary)] : []
    }),
  )
}

function widenText(db: Kysely<AnyDatabase>, dialect: 'postgres' | 'mysql', table: Table, column: Column, known: Length): string {
  // Its letters and their order stay what they are.
  const letters = known.charset ? ` character set ${known.charset} collate ${known.collation}` : ''
  return changeType(db, dialect, table, column, `mediumtext${letters}`)
}

function makeExact(
  db: Kysely<AnyDatabase>,
  dialect: 'postgres' | 'mysql',
  table: Table,
  column: Column,
  length: number,
  binary: string,
): string {
  return changeType(db, dialect, table, column, `varchar(${length}) character set utf8mb4 collate ${binary}`)
}

function changeType(db: Kysely<AnyDatabase>, dialect: 'postgres' | 'mysql', table: Table, column: Column, mysqlType: string): string {
  const field = sql.id(column.name)
  if (dialect === 'postgres') return sql`alter table ${tableRef(table)} alter column ${field} type text`.compile(db).sql
  const empty = column.nullable ? 'null' : 'not null'
  return sql`alter table ${tableRef(table)} modify column ${field} ${sql.raw(`${mysqlType} ${empty}`)}`.compile(db).sql
}

interface Length {
  table: string
  schema: string
  column: string
  length: number
  charset: string | null
  collation: string | null
}

async function readLengths(db: Kysely<AnyDatabase>, dialect: 'postgres' | 'mysql'): Promise<readonly Length[]> {
  const scope = dialect === 'mysql' ? sql`table_schema = database()` : sql`table_schema not in ('pg_catalog', 'information_schema')`
  const query = sql<Length>`select table_name as ${sql.id('table')}, table_schema as ${sql.id('schema')}, column_name as ${sql.id('column')},
    character_maximum_length as ${sql.id('length')}, character_set_name as ${sql.id('charset')}, collation_name as ${sql.id('collation')}
    from information_schema.columns where ${scope} and character_maximum_length is not null`
  return (await query.execute(db)).rows
}
