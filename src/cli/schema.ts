/** `authkernel schema`: models of the tables of plugins' records, for hosts whose own tool makes the tables. */
import type { RecordModel } from 'authkernel/plugins/sql'
import { loadModule } from './load.ts'
import { type Report, type Setting, UsageError } from './report.ts'
import { drizzleModels } from './schema-drizzle.ts'
import { prismaModels } from './schema-prisma.ts'
import { lookInside } from './snapshot.ts'

/** Options of the command. */
export interface SchemaOptions {
  kind: string
  auth?: string | undefined
  env?: string | undefined
}
/** What a store of records in SQL can tell: `sqlAdapter().records` and `sqlRecords()` do. */
interface Describes {
  describe(): Promise<{ dialect: RecordModel['dialect']; models: readonly RecordModel[]; statements: readonly string[] }>
}

const kinds = ['prisma', 'drizzle', 'sql']

/** Throws UsageError for another kind, and where no records are kept in SQL. */
export async function schema({ kind, ...options }: SchemaOptions, setting: Setting): Promise<Report> {
  if (!kinds.includes(kind)) throw new UsageError(`There is no schema "${kind}". Known: ${kinds.join(', ')}.`)
  const { auth, file } = await loadModule(options, setting)
  const { records } = (await lookInside(auth, 'https://your-app.example')).app.services
  const { describe } = (records ?? {}) as Partial<Describes>
  if (!describe)
    throw new UsageError(
      `The records of ${file} are not in SQL: use sqlAdapter() of authkernel, or recordsPlugin(sqlRecords(db)). Other stores have no tables.`,
    )
  const { models, statements } = await describe()
  await auth.close()
  const lines =
    kind === 'sql' ? statements.map((statement) => `${statement};`) : kind === 'prisma' ? prismaModels(models) : drizzleModels(models)
  return { data: { file, kind, schema: lines.join('\n') }, lines: models.length > 0 ? lines : ['No plugin declares a record.'] }
}
