/** Tables of records as definitions of Drizzle. */
import type { RecordModel } from 'authkernel/plugins/sql'

type Dialect = RecordModel['dialect']
type Column = RecordModel['columns'][number]

const tables: Record<Dialect, { call: string; from: string }> = {
  postgres: { call: 'pgTable', from: 'drizzle-orm/pg-core' },
  mysql: { call: 'mysqlTable', from: 'drizzle-orm/mysql-core' },
  sqlite: { call: 'sqliteTable', from: 'drizzle-orm/sqlite-core' },
}

/** Lines of a module. */
export function drizzleModels(models: readonly RecordModel[]): string[] {
  const [first] = models
  if (!first) return []
  const { call, from } = tables[first.dialect]
  const body = models.flatMap((model) => ['', `/** Record "${model.record}" of authkernel. */`, ...drawTable(model, call)])
  const used = [
    call,
    'primaryKey',
    'uniqueIndex',
    'index',
    'text',
    'varchar',
    'mediumtext',
    'bigint',
    'integer',
    'boolean',
    'timestamp',
    'datetime',
  ]
  const imports = used.filter((name) => body.some((line) => new RegExp(`\\b${name}\\(`).test(line))).sort()
  return [`import { ${imports.join(', ')} } from '${from}'`, ...body]
}

function drawTable({ record, table: name, dialect, columns, unique, indexes }: RecordModel, call: string): string[] {
  const fields = (list: readonly string[]): string => list.map((field) => `table.${field}`).join(', ')
  return [
    `export const auth${record[0]!.toUpperCase()}${record.slice(1)} = ${call}('${name}', {`,
    ...columns.map((column) => `  ${column.field}: ${columnDefinition(dialect, column)},`),
    '}, (table) => [',
    `  primaryKey({ columns: [table.ns, table.id] }),`,
    ...unique.map((key) => `  uniqueIndex('${key.name}').on(${fields(key.fields)}),`),
    ...indexes.map((key) => `  index('${key.name}').on(${fields(key.fields)}),`),
    '])',
  ]
}

function columnDefinition(dialect: Dialect, { name, type, max, optional, default: value }: Column): string {
  const types: Record<Dialect, Record<Column['type'], string>> = {
    postgres: {
      string: `text('${name}')`,
      text: `text('${name}')`,
      integer: `bigint('${name}', { mode: 'number' })`,
      boolean: `boolean('${name}')`,
      date: `timestamp('${name}', { withTimezone: true, precision: 3 })`,
    },
    mysql: {
      string: `varchar('${name}', { length: ${max} })`,
      text: `mediumtext('${name}')`,
      integer: `bigint('${name}', { mode: 'number' })`,
      boolean: `boolean('${name}')`,
      date: `datetime('${name}', { fsp: 3 })`,
    },
    sqlite: {
      string: `text('${name}')`,
      text: `text('${name}')`,
      integer: `integer('${name}')`,
      boolean: `integer('${name}', { mode: 'boolean' })`,
      // ISO 8601.
      date: `text('${name}')`,
    },
  }
  const given = value === undefined || value === null ? '' : `.default(${defaultLiteral(dialect, value)})`
  return `${types[dialect][type]}${optional ? '' : '.notNull()'}${given}`
}

function defaultLiteral(dialect: Dialect, value: NonNullable<Column['default']>): string {
  if (value instanceof Date) return dialect === 'sqlite' ? `'${value.toISOString()}'` : `new Date('${value.toISOString()}')`
  return JSON.stringify(value)
}
