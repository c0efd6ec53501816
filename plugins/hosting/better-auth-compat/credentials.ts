/** What better-auth itself keeps of a user: when another user proves the address, nothing of it may open the user, there or by a later run. */
import type { SharedCredentials } from 'authkernel/kernel'
import { type BetterAuthModel, type BetterAuthSchema, columnOf, tableOf } from './schema.ts'
import { type BetterAuthDatabase, isTrue, type OpenSource, readOrRefuse, type Source, toText } from './source.ts'

/** As much of Kysely as is used here. */
interface Writer {
  withoutPlugins(): Writer
  deleteFrom(table: string): Statement
  updateTable(table: string): { set(values: (builder: { lit(value: null | false): unknown }) => Record<string, unknown>): Statement }
}
interface Statement {
  where(column: string, operator: string, value: unknown): Statement
  execute(): Promise<unknown>
}

/** Rows that open a user, with the fields that name the user. An API key has `userId` before version 1.5. */
const opening: readonly (readonly [model: BetterAuthModel, field: string])[] = [
  ['twoFactor', 'userId'],
  ['passkey', 'userId'],
  ['apikey', 'referenceId'],
  ['apikey', 'userId'],
]
/** Fields of the user that sign in, and what stands for none. */
const naming: Readonly<Record<string, null | false>> = {
  twoFactorEnabled: false,
  phoneNumber: null,
  phoneNumberVerified: false,
  username: null,
  displayUsername: null,
}

/** For the service `sharedCredentials`. Throws Overloaded when the tables cannot be read. */
export function createSharedCredentials(database: BetterAuthDatabase, schema: BetterAuthSchema, openSource: OpenSource): SharedCredentials {
  const open = (): Promise<Source> => readOrRefuse(openSource)
  const hasRows = async (source: Source, userId: string, models: readonly BetterAuthModel[]): Promise<boolean> => {
    for (const [model, field] of opening)
      if (models.includes(model) && source.has(model, field))
        if ((await readOrRefuse(() => source.count(model, [[field, '=', userId]]))) > 0) return true
    return false
  }
  const hasOther = async (source: Source, userId: string): Promise<boolean> => {
    if (!source.has('user')) return false
    const [user] = await readOrRefuse(() => source.find('user', 'id', [userId]))
    const signsInByNumber = user !== undefined && toText(user['phoneNumber']) !== null && isTrue(user['phoneNumberVerified'])
    return signsInByNumber || hasRows(source, userId, ['passkey', 'apikey'])
  }
  return {
    async has(_ctx, userId) {
      const source = await open()
      if (!source.has('account') || !source.has('user')) return false
      const accounts = await readOrRefuse(() => source.find('account', 'userId', [userId], [['providerId', '=', 'credential']]))
      if (accounts.some(({ password }) => toText(password) !== null)) return true
      return (await hasRows(source, userId, ['twoFactor'])) || hasOther(source, userId)
    },
    hasOtherThanPassword: async (_ctx, userId) => hasOther(await open(), userId),
    async remove(_ctx, userId) {
      const source = await open()
      // The tables of the host are known at run time. `Writer` is the part of Kysely that is used.
      const db = (database as unknown as Writer).withoutPlugins()
      for (const [model, field] of opening)
        if (source.has(model, field))
          await db
            .deleteFrom(tableOf(schema, model))
            .where(columnOf(schema, model, field), '=', userId)
            .execute()
      const fields = Object.entries(naming).filter(([field]) => source.has('user', field))
      if (fields.length > 0)
        await db
          .updateTable(tableOf(schema, 'user'))
          .set(({ lit }) => Object.fromEntries(fields.map(([field, none]) => [columnOf(schema, 'user', field), lit(none)])))
          .where(columnOf(schema, 'user', 'id'), '=', userId)
          .execute()
      await db
        .updateTable(tableOf(schema, 'account'))
        .set(({ lit }) => ({ [columnOf(schema, 'account', 'password')]: lit(null) }))
        .where(columnOf(schema, 'account', 'userId'), '=', userId)
        .execute()
    },
  }
}
