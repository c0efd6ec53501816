/** Additional fields of users, such as a role: refreshed only where nothing changed them here. Keys are ids of users. */
import { type AnyContext, type ImportState, type ImportTarget, sha256, toHex } from 'authkernel/kernel'

/** Values by the names of fields. */
export type FieldsTaken = Readonly<Record<string, unknown>>

/** The target for fields. `isMade` tells users who were stored a moment ago with these values. */
export function createFieldTarget(isMade: (userId: string) => boolean): ImportTarget<FieldsTaken> {
  return {
    async read(ctx, rows) {
      const others = rows.filter(({ key, value }) => !value || !isMade(key))
      const users = others.length === 0 ? [] : await ctx.service('store').getUsers(others.map(({ key }) => key))
      // Custom fields of the host are columns of users. The type of a user does not list them.
      const found = new Map(users.map((user) => [user.id, user as unknown as FieldsTaken]))
      return Promise.all(
        rows.map(async ({ key, value }): Promise<ImportState | undefined> => {
          if (value && isMade(key)) return { version: await versionOf(value, value), same: true }
          const user = found.get(key)
          if (!user) return undefined
          const same = value !== undefined && Object.keys(value).every((name) => (user[name] ?? null) === value[name])
          return { version: await versionOf(user, value ?? {}), same }
        }),
      )
    },
    async write(ctx, rows) {
      const versions: (string | undefined)[] = []
      for (const { key, value, over } of rows) versions.push(await writeFields(ctx, key, value, over))
      return versions
    },
    remove: async () => 0,
  }
}

async function writeFields(ctx: AnyContext, id: string, value: FieldsTaken, over: string | undefined): Promise<string | undefined> {
  const store = ctx.service('store')
  const user = await store.getUser(id)
  // As above: custom fields of the host.
  if (!user || over === undefined || (await versionOf(user as unknown as FieldsTaken, value)) !== over) return undefined
  // As above: custom fields of the host.
  return versionOf((await store.updateUser({ id, ...value } as never)) as unknown as FieldsTaken, value)
}

async function versionOf(user: FieldsTaken, value: FieldsTaken): Promise<string> {
  const names = Object.keys(value).toSorted()
  return toHex(await sha256(JSON.stringify(names.map((name) => [name, user[name] ?? null]))))
}
