/** Columns that a move must find. Without one of them rows would look as if they were fewer, or worth more, than they are. */
import { AuthError } from 'authkernel/kernel'
import { type BetterAuthModel, type BetterAuthSchema, columnOf, neededFields, tableOf } from './schema.ts'

/** Tables of a database, with their columns. */
export type Tables = ReadonlyMap<string, readonly string[]>

/** Throws AuthError that names every column that is missing, and where the app says what it is called. */
export function assertColumns(tables: Tables, schema: BetterAuthSchema): void {
  const models = Object.keys(neededFields) as BetterAuthModel[]
  const hasField = (model: BetterAuthModel, field: string): boolean =>
    tables.get(tableOf(schema, model))?.includes(columnOf(schema, model, field)) === true
  const faults = models.flatMap((model) => {
    const table = tableOf(schema, model)
    const columns = tables.get(table)
    if (columns === undefined) return []
    const needed = new Set([...neededFields[model], ...companionsOf(model, tables, schema, hasField)])
    const missing = [...needed].filter((field) => !hasField(model, field))
    if (missing.length === 0) return []
    const names = missing.map((field) => columnOf(schema, model, field)).join(', ')
    return [`The table ${table} has no column ${names}. It has ${columns.join(', ')}.`]
  })
  if (faults.length > 0)
    throw new AuthError(
      `${faults.join(' ')} Say what your columns are called in \`schema\` of betterAuthCompatPlugin and in betterAuthNames: { casing: 'snake' }, or { models: { user: { fields: { emailVerified: 'your_column' } } } }.`,
    )
}

/** Fields that a plugin of better-auth adds together: where one of them is there, the others are there under another name. */
function companionsOf(
  model: BetterAuthModel,
  tables: Tables,
  schema: BetterAuthSchema,
  hasField: (model: BetterAuthModel, field: string) => boolean,
): readonly string[] {
  if (model === 'apikey') return hasField('apikey', 'userId') ? [] : ['referenceId']
  if (model !== 'user') return []
  const hasAny = (fields: readonly string[]): boolean => fields.some((field) => hasField('user', field))
  return [
    // A second factor counts where the user has it switched on.
    ...(tables.has(tableOf(schema, 'twoFactor')) ? ['twoFactorEnabled'] : []),
    ...(hasField('session', 'impersonatedBy') || hasAny(ofBans) ? ofBans : []),
    ...(hasAny(ofNumbers) ? ofNumbers : []),
    ...(hasAny(ofUsernames) ? ofUsernames : []),
  ]
}

const ofBans = ['banned', 'banReason', 'banExpires']
const ofNumbers = ['phoneNumber', 'phoneNumberVerified']
const ofUsernames = ['username', 'displayUsername']
