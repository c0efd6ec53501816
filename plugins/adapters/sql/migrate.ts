/** Brings a database to the wanted tables: makes what is missing, widens what is too narrow, drops nothing. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { introspect, isUnique, type Scope } from './introspect.ts'
import { columnOf, defaultTables, mappingOf } from './names.ts'
import { narrowColumns } from './narrow.ts'
import { nameOf, ref } from './refs.ts'
import { binaryCollation, generatorOf, typeOf, wantedWith, type WantedTable } from './schema.ts'
import type { AnyDatabase, Table } from './types.ts'

/** What a migration did, or would do. */
export interface MigrationReport {
  /** Statements in order; none when everything is there. */
  statements: readonly string[]
  /** What a person must look at: duplicates that stand in the way of a unique index. */
  notes: readonly string[]
  /** False for a dry run. */
  applied: boolean
}

/** What a database lacks now. */
export type Plan = Omit<MigrationReport, 'applied'>

/** Dry run unless `apply` is true. Safe to repeat, and to run in several processes at once. */
export async function migrate(
  db: Kysely<AnyDatabase>,
  plan: () => Promise<Plan>,
  { apply = false }: { apply?: boolean } = {},
): Promise<MigrationReport> {
  const done: string[] = []
  for (;;) {
    // Executed as it was shown: what a statement makes does not change those behind it.
    const { statements, notes } = await plan()
    if (!apply || statements.length === 0) return { statements: apply ? done : statements, notes, applied: apply }
    // Never the same twice: a database that does not show what was made would be asked for ever.
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
export async function plan(db: Kysely<AnyDatabase>, scope: Scope): Promise<Plan> {
  const { layout, strangers } = await introspect(db, scope)
  const [stranger] = strangers
  if (stranger) {
    const { kind, name, missing } = stranger
    throw new Error(
      `[sql] There is a table ${name} without a column for ${missing.join(', ')}. ` +
        `Name its columns under names.${kind}.columns, or give another table a name under names.${kind}.`,
    )
  }
  const collation = scope.dialect === 'mysql' ? await binaryCollation(db) : ''
  const owner = await ownerOf(db, scope, layout.users, collation)
  const statements: string[] = []
  const notes: string[] = []
  for (const whole of wantedWith(scope.fields)) {
    const absent = mappingOf(whole.kind, scope.names)?.absent ?? {}
    const want = { ...whole, columns: whole.columns.filter(({ field }) => !(field in absent)) }
    const table = layout[want.kind]
    if (!table) {
      statements.push(create(db, scope, want, owner, collation), ...indexes(db, scope, want, owner))
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
      if (!table.indexed.has(field)) statements.push(index(db, scope, table.name, table.columns.get(field)!.name))
    }
  }
  statements.push(...(await narrowColumns(db, scope, layout, collation)))
  return { statements, notes }
}

function builder(db: Kysely<AnyDatabase>, { schema }: Scope): Kysely<AnyDatabase>['schema'] {
  return (schema === undefined ? db : db.withSchema(schema)).schema
}

function create(db: Kysely<AnyDatabase>, scope: Scope, want: WantedTable, owner: Owner, collation: string): string {
  const { dialect, names } = scope
  const given = names[want.kind]
  const name = (typeof given === 'string' ? given : given?.table) ?? defaultTables[want.kind]
  const column = (field: string): string => columnOf(want.kind, field, names)
  let query = builder(db, scope).createTable(name).ifNotExists()
  for (const { field, type, required, generated, default: value } of want.columns) {
    const sqlType = sql.raw<unknown>(field === 'userId' ? owner.type : typeOf(dialect, type, collation))
    query = query.addColumn(column(field), sqlType as never, (each) => {
      const strict = required ? each.notNull() : each
      if (value !== undefined) return strict.defaultTo(literal(dialect, value))
      return generated ? strict.defaultTo(sql.raw(generatorOf(dialect))) : strict
    })
  }
  query = query.addPrimaryKeyConstraint(`${name}_pkey`, want.primary.map(column) as never)
  if (want.owned && owner.referable) {
    query = query.addForeignKeyConstraint(`${name}_user_fkey`, [column('userId')] as never, owner.table, [owner.id] as never, (each) =>
      each.onDelete('cascade'),
    )
  }
  return query.compile().sql
}

/** The table that rows of a person refer to, as it is or will be. */
interface Owner {
  table: string
  id: string
  /** What a column that holds one of its ids is. */
  type: string
  /** Whether a foreign key can point to it. */
  referable: boolean
}

async function ownerOf(db: Kysely<AnyDatabase>, { dialect, names }: Scope, users: Table | undefined, collation: string): Promise<Owner> {
  const given = typeof names.users === 'string' ? names.users : names.users?.table
  const id = users?.columns.get('id')!.name ?? columnOf('users', 'id', names)
  const owner = { table: users?.name ?? given ?? defaultTables.users, id, type: typeOf(dialect, 'key', collation), referable: true }
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

function indexes(db: Kysely<AnyDatabase>, scope: Scope, want: WantedTable, owner: Owner): string[] {
  const given = scope.names[want.kind]
  const name = (typeof given === 'string' ? given : given?.table) ?? defaultTables[want.kind]
  const column = (field: string): string => columnOf(want.kind, field, scope.names)
  const isPrimary = (fields: readonly string[]): boolean => fields.join() === want.primary.join()
  // InnoDB makes an index for a foreign key, and replaces it by one that is made later: a migration that ends between would differ.
  const made = scope.dialect === 'mysql' && want.owned && owner.referable ? [['userId']] : []
  const begins = [want.primary, ...want.unique, ...made].map(([first]) => first)
  return [
    ...want.unique.filter((fields) => !isPrimary(fields)).map((fields) => createIndex(db, scope, name, fields.map(column), true)),
    ...want.index.filter((field) => !begins.includes(field)).map((field) => index(db, scope, name, column(field))),
  ]
}

function missingColumns(db: Kysely<AnyDatabase>, scope: Scope, want: WantedTable, table: Table, collation: string): string[] {
  // Required ones are there, else the table would not have been recognised; an `id` of accounts is nobody's need.
  return want.columns
    .filter(({ field, required }) => !required && !table.columns.has(field))
    .map(
      ({ field, type, default: value }) =>
        builder(db, scope)
          .alterTable(table.name)
          .addColumn(columnOf(want.kind, field, scope.names), sql.raw(typeOf(scope.dialect, type, collation)) as never, (each) =>
            value === undefined ? each : each.defaultTo(literal(scope.dialect, value)),
          )
          .compile().sql,
    )
}

/** A default as SQL text: a statement that makes tables takes no parameters. */
function literal(dialect: Scope['dialect'], value: string | number | boolean): RawBuilder<unknown> {
  if (typeof value === 'boolean') return sql.raw(dialect === 'sqlite' ? String(Number(value)) : String(value))
  // MySQL reads backslashes in texts as escapes.
  return typeof value === 'number'
    ? sql.raw(String(value))
    : sql.raw(`'${value.replaceAll(dialect === 'mysql' ? /['\\\\]/g : "'", (mark) => mark + mark)}'`)
}

function uniqueIndex(db: Kysely<AnyDatabase>, scope: Scope, table: Table, fields: readonly string[]): string {
  return createIndex(
    db,
    scope,
    table.name,
    fields.map((field) => table.columns.get(field)!.name),
    true,
  )
}

function index(db: Kysely<AnyDatabase>, scope: Scope, table: string, column: string): string {
  return createIndex(db, scope, table, [column], false)
}

function createIndex(db: Kysely<AnyDatabase>, scope: Scope, table: string, columns: readonly string[], unique: boolean): string {
  const name = `${table}_${columns.join('_')}_${unique ? 'key' : 'idx'}`
  const query = builder(db, scope)
    .createIndex(name)
    .on(table)
    .columns([...columns])
  return (unique ? query.unique() : query).compile().sql
}

async function countDuplicates(db: Kysely<AnyDatabase>, table: Table, fields: readonly string[]): Promise<number> {
  const columns = sql.join(fields.map((field) => ref(table, field)))
  const present = sql.join(
    fields.map((field) => sql`${ref(table, field)} is not null`),
    sql` and `,
  )
  const query = sql<{
    n: unknown
  }>`select count(*) as n from (select 1 as one from ${nameOf(table)} where ${present} group by ${columns} having count(*) > 1) as d`
  return Number((await query.execute(db)).rows[0]?.n ?? 0)
}
