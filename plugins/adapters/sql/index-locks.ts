/** What the statements of a migration lock, and indexes that are built while rows are written. */
import { type Kysely, sql } from 'kysely'
import type { Plan } from './migrate.ts'
import type { AnyDatabase, DialectName } from './types.ts'

const createIndex = /^create (unique )?index (?!concurrently )/i

/** The same plan with `create index concurrently`. An index that an earlier run left unfinished, and one of a partitioned table, is a note. */
export async function buildConcurrently(db: Kysely<AnyDatabase>, dialect: DialectName, { statements, notes }: Plan): Promise<Plan> {
  if (dialect !== 'postgres') return { statements, notes }
  const { rows } = await sql<{
    name: string
    kind: string
  }>`select c.relname as name, c.relkind as kind from pg_class c left join pg_index i on i.indexrelid = c.oid
    where c.relkind = 'p' or (c.relkind = 'i' and not i.indisvalid)`.execute(db)
  const isNamed = (kind: string, statement: string): boolean => rows.some((row) => row.kind === kind && statement.includes(`"${row.name}"`))
  const unfinished = statements.filter((statement) => createIndex.test(statement) && isNamed('i', statement))
  return {
    statements: statements
      .filter((statement) => !unfinished.includes(statement))
      .map((statement) => (isNamed('p', statement) ? statement : statement.replace(createIndex, 'create $1index concurrently '))),
    notes: [...notes, ...unfinished.map((statement) => `An index was left unfinished. Drop it, then migrate again: ${statement}`)],
  }
}

/** What a statement locks, in words. */
export function describeLock(dialect: DialectName, statement: string): string {
  const text = statement.toLowerCase()
  if (dialect === 'sqlite') return 'blocks writes to the database until it ends'
  if (text.startsWith('create table'))
    return text.includes(' references ') ? 'blocks writes to the table that it references for a moment' : 'locks nothing that is in use'
  if (dialect === 'mysql')
    return /^alter table .* (modify|change) /.test(text)
      ? 'blocks writes to the table until its rows are copied'
      : 'blocks the table for a moment; reads and writes go on meanwhile'
  if (/^create (unique )?index concurrently/.test(text)) return 'blocks neither reads nor writes'
  if (/^create (unique )?index/.test(text)) return 'blocks writes to the table, not reads, until the index is built'
  return 'blocks reads and writes of the table for a moment'
}
