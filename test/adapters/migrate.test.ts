/** What the dry run of `migrate` shows is what is done: schemas are compared as the database describes them, on every dialect. */
import { PGlite } from '@electric-sql/pglite'
import { migrateSql, pgliteDialect } from 'authkernel/plugins/sql'
import { Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, openOutside } from './_stores.ts'

type Db = Kysely<Record<string, Record<string, unknown>>>
type Kind = 'libsql' | 'postgres' | 'mysql' | 'pglite'

const there = { libsql: true, pglite: true, postgres: await reachable('postgres'), mysql: await reachable('mysql') }

/** Does something to an empty database. */
async function withDatabase<T>(kind: Kind, work: (db: Db) => Promise<T>): Promise<T> {
  if (kind === 'pglite') {
    const db: Db = new Kysely({ dialect: pgliteDialect(new PGlite()) })
    return work(db).finally(() => db.destroy())
  }
  const spec = await newDatabase(kind)
  const db = openOutside(spec)
  try {
    return await work(db)
  } finally {
    await db.destroy()
    await dropStore(spec)
  }
}

/** Tables, columns, keys and indexes, in the words of the database. */
async function describeSchema(kind: Kind, db: Db): Promise<Record<string, unknown[]>> {
  const rows = async (query: ReturnType<typeof sql>): Promise<unknown[]> => [...(await query.execute(db)).rows]
  if (kind === 'libsql') return { all: await rows(sql`select type, name, tbl_name, sql from sqlite_master order by type, name`) }
  if (kind === 'mysql') {
    return {
      columns: await rows(sql`select table_name, column_name, column_type, collation_name, is_nullable, column_default, ordinal_position
        from information_schema.columns where table_schema = database() order by 1, 7`),
      keys: await rows(sql`select k.table_name, k.constraint_name, k.column_name, k.referenced_table_name, k.referenced_column_name, r.delete_rule
        from information_schema.key_column_usage k left join information_schema.referential_constraints r
          on r.constraint_schema = k.table_schema and r.constraint_name = k.constraint_name
        where k.table_schema = database() order by 1, 2, 3`),
      indexes: await rows(sql`select table_name, index_name, non_unique, seq_in_index, column_name
        from information_schema.statistics where table_schema = database() order by 1, 2, 4`),
    }
  }
  return {
    columns: await rows(sql`select table_name, column_name, data_type, datetime_precision, is_nullable, column_default, ordinal_position
      from information_schema.columns where table_schema = 'public' order by 1, 7`),
    keys: await rows(sql`select conrelid::regclass::text as tbl, conname::text, pg_get_constraintdef(oid) as def
      from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`),
    indexes: await rows(sql`select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2`),
  }
}

/** Foreign keys that take rows along with their user. */
function cascades(kind: Kind, schema: Record<string, unknown[]>): string[] {
  const rows = (schema.keys ?? schema.all) as Record<string, string | null>[]
  if (kind === 'mysql') return rows.flatMap((row) => (row.delete_rule === 'CASCADE' ? [row.table_name!] : [])).sort()
  const [table, text] = kind === 'libsql' ? ['name', 'sql'] : ['tbl', 'def']
  return rows.flatMap((row) => (/on delete cascade/i.test(row[text!] ?? '') ? [row[table!]!] : [])).sort()
}

describe.each(['libsql', 'pglite', 'postgres', 'mysql'] as const)('%s', (kind) => {
  it.skipIf(!there[kind])('the statements that are shown make the schema that --apply makes, foreign keys included', async () => {
    const [shown, byHand] = await withDatabase(kind, async (db) => {
      const { statements } = await migrateSql(db)
      for (const statement of statements) await sql.raw(statement).execute(db)
      return [statements, await describeSchema(kind, db)] as const
    })
    const [report, applied] = await withDatabase(kind, async (db) => {
      const report = await migrateSql(db, { apply: true })
      return [report, await describeSchema(kind, db)] as const
    })
    expect(report).toEqual({ statements: shown, notes: [], applied: true })
    expect(applied).toEqual(byHand)
    expect(cascades(kind, applied)).toEqual(['accounts', 'authenticators', 'sessions'])
  })

  it.skipIf(!there[kind])(
    'a migration that was killed after any of its statements is finished by the next one, to the same schema',
    async () => {
      const whole = await withDatabase(kind, async (db) => {
        const { statements } = await migrateSql(db, { apply: true })
        return { statements, schema: await describeSchema(kind, db) }
      })
      // A database is made for each: not at every point where that takes long.
      const points = [...whole.statements.keys()].filter((done) =>
        kind === 'libsql' ? done > 0 : kind === 'pglite' ? done === 7 : done % 3 === 1,
      )
      for (const done of points) {
        await withDatabase(kind, async (db) => {
          for (const statement of whole.statements.slice(0, done)) await sql.raw(statement).execute(db)
          const rest = await migrateSql(db)
          expect(rest.statements, `after ${done} statements`).toEqual(whole.statements.slice(done))
          expect((await migrateSql(db, { apply: true })).statements).toEqual(rest.statements)
          expect(await describeSchema(kind, db), `after ${done} statements`).toEqual(whole.schema)
        })
      }
    },
    180_000,
  )

  it.skipIf(!there[kind])("rows refer to a table of users of the host's own, whatever its ids are", async () => {
    const users = {
      libsql: 'create table users (id integer primary key, name text, email text, "emailVerified" text, image text)',
      pglite: 'create table users (id serial primary key, name text, email text, "emailVerified" timestamptz, image text)',
      postgres: 'create table users (id serial primary key, name text, email text, "emailVerified" timestamptz, image text)',
      mysql:
        'create table users (id varchar(40) character set latin1 collate latin1_swedish_ci primary key, name text, email varchar(255), emailVerified datetime(3) null, image text)',
    }[kind]
    await withDatabase(kind, async (db) => {
      await sql.raw(users).execute(db)
      await migrateSql(db, { apply: true })
      expect(cascades(kind, await describeSchema(kind, db))).toEqual(['accounts', 'authenticators', 'sessions'])
      expect((await migrateSql(db)).statements).toEqual([])
    })
  })
})

it.skipIf(!there.mysql)('mysql: a table of users of another engine, which no foreign key can point to, is no obstacle', async () => {
  await withDatabase('mysql', async (db) => {
    await sql`create table users (id varchar(40) primary key, name text, email varchar(255), emailVerified datetime(3) null, image text) engine = myisam`.execute(
      db,
    )
    const { statements } = await migrateSql(db)
    expect((await migrateSql(db, { apply: true })).statements).toEqual(statements)
    expect(cascades('mysql', await describeSchema('mysql', db))).toEqual([])
  })
})
