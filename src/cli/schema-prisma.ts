/** Tables of records as models of a Prisma schema. */
import type { RecordModel } from 'authkernel/plugins/sql'

type Column = RecordModel['columns'][number]

/** Lines of the schema; `map` names keep tables and columns as authkernel calls them. */
export function prismaModels(models: readonly RecordModel[]): string[] {
  return models.flatMap((model, at) => [
    ...(at > 0 ? [''] : []),
    `/// Record "${model.record}" of authkernel.`,
    `model ${modelName(model)} {`,
    ...model.columns.map((column) => `  ${drawField(model, column)}`),
    '',
    `  @@id([ns, id])`,
    ...model.unique.map(({ name, fields }) => `  @@unique([${fields.join(', ')}], map: "${name}")`),
    ...model.indexes.map(({ name, fields }) => `  @@index([${fields.join(', ')}], map: "${name}")`),
    `  @@map("${model.table}")`,
    '}',
  ])
}

function modelName({ record }: RecordModel): string {
  return `Auth${record[0]!.toUpperCase()}${record.slice(1)}`
}

function drawField({ dialect }: RecordModel, column: Column): string {
  const { field: name, name: stored, optional } = column
  const mapped = name === stored ? '' : ` @map("${stored}")`
  return `${name} ${prismaTypeOf(dialect, column)}${optional ? '?' : ''}${defaultAttribute(dialect, column)}${mapped}${nativeType(dialect, column)}`
}

function prismaTypeOf(dialect: RecordModel['dialect'], { type }: Column): string {
  // SQLite: authkernel keeps dates as text, and booleans as 0 and 1.
  if (type === 'date') return dialect === 'sqlite' ? 'String' : 'DateTime'
  if (type === 'boolean') return dialect === 'sqlite' ? 'Int' : 'Boolean'
  return type === 'integer' ? 'BigInt' : 'String'
}

function nativeType(dialect: RecordModel['dialect'], { type, max }: Column): string {
  if (dialect === 'mysql')
    return type === 'string' ? ` @db.VarChar(${max})` : type === 'text' ? ' @db.MediumText' : type === 'date' ? ' @db.DateTime(3)' : ''
  return dialect === 'postgres' && type === 'date' ? ' @db.Timestamptz(3)' : ''
}

function defaultAttribute(dialect: RecordModel['dialect'], { default: value, type }: Column): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Date) return ` @default("${value.toISOString()}")`
  if (type === 'boolean' && dialect === 'sqlite') return ` @default(${value ? 1 : 0})`
  return ` @default(${JSON.stringify(value)})`
}
