/** Users of a source as they are stored here, hundreds at a time. Their ids are those of the source. */
import {
  AdapterError,
  type AdapterUser,
  type AnyContext,
  type ImportState,
  type ImportTarget,
  type NewAdapterAccount,
  sha256,
  toAddress,
  toHex,
} from 'authkernel/kernel'

/** A user to store. Undefined: the source says nothing about it. */
export interface UserTaken {
  /** In its canonical form; null: none. */
  email?: string | null | undefined
  emailVerified?: boolean | undefined
  name?: string | null | undefined
  image?: string | null | undefined
  /** Additional fields. */
  fields?: Readonly<Record<string, unknown>> | undefined
  /** Accounts that are stored together with a new user. */
  accounts: readonly AccountTaken[]
}
/** An account to store. */
export type AccountTaken = NewAdapterAccount

/** A target that knows what it has just made. */
export interface UserTarget extends ImportTarget<UserTaken> {
  /** Keys of users that were made. */
  listMade(): ReadonlySet<string>
  /** Whether the user of this key cannot be stored. */
  isRefused(key: string): boolean
}

// Users that are stored one by one at once, where several cannot be.
const width = 8

/**
 * The target for the users of one page. `owners` has the keys of users by the addresses of the run. An address is also compared with those of users here, unless
 * `isEmpty` says that there were none when the run began.
 */
export function createUserTarget(owners: Map<string, string>, isEmpty: boolean): UserTarget {
  const keys = new Map<UserTaken, string>()
  const made = new Set<string>()
  const refused = new Set<string>()
  let looked = false
  const judge = async (ctx: AnyContext, value: UserTaken, key: string): Promise<string | undefined> => {
    const { email } = value
    if (email === undefined || email === null)
      return ctx.service('store').nullableEmail ? undefined : 'the adapter stores no users without an address'
    if (toAddress(email) === undefined) return 'the address is no address'
    const owner = owners.get(email)
    if (owner !== undefined && owner !== key) return 'another user of the export has the same address'
    owners.set(email, key)
    if (isEmpty) return undefined
    const here = await ctx.service('store').getUserByEmail(email)
    return here && here.id !== key ? 'a user here, who was not taken from this source, has the same address' : undefined
  }
  return {
    isRefused: (key) => refused.has(key),
    listMade: () => made,
    async refuse(ctx, value) {
      const key = keys.get(value) ?? ''
      const reason = await readOrNothing(() => judge(ctx, value, key))
      if (reason !== undefined) refused.add(key)
      return reason
    },
    async read(ctx, rows) {
      for (const { key, value } of rows) if (value) keys.set(value, key)
      // The second time there are rows that could not be stored.
      const users = isEmpty && !looked ? [] : await ctx.service('store').getUsers(rows.map(({ key }) => key))
      looked = true
      const found = new Map(users.map((user) => [user.id, user]))
      return Promise.all(
        rows.map(async ({ key, value }): Promise<ImportState | undefined> => {
          const user = found.get(key)
          return user && { version: await versionOf(user), same: value !== undefined && isSame(user, value) }
        }),
      )
    },
    async write(ctx, rows) {
      const fresh = rows.filter(({ over }) => over === undefined)
      const versions = new Map<string, string>()
      for (const user of await createAll(ctx, fresh)) {
        made.add(user.id)
        versions.set(user.id, await versionOf(user))
      }
      for (const { key, value, over } of rows) {
        if (over === undefined) continue
        const version = await updateOne(ctx, key, value, over)
        if (version !== undefined) versions.set(key, version)
      }
      return rows.map(({ key }) => versions.get(key))
    },
    // A user is never removed by an import: an export may be a part of the whole.
    remove: async () => 0,
  }
}

type Rows = readonly { key: string; value: UserTaken }[]

async function createAll(ctx: AnyContext, rows: Rows): Promise<AdapterUser[]> {
  const store = ctx.service('store')
  if (rows.length === 0) return []
  if (store.supports('createUsers')) {
    try {
      await store.createUsers(rows.map(({ key, value }) => ({ user: toUser(ctx, key, value), accounts: value.accounts })))
      return rows.map(({ key, value }) => toUser(ctx, key, value))
    } catch (error) {
      // One of them is taken: which one shows when they are stored one by one.
      if (!(error instanceof AdapterError)) throw error
    }
  }
  const made: AdapterUser[] = []
  for (let at = 0; at < rows.length; at += width)
    made.push(...(await Promise.all(rows.slice(at, at + width).map((row) => createOne(ctx, row)))).filter((user) => user !== undefined))
  return made
}

async function createOne(ctx: AnyContext, { key, value }: Rows[number]): Promise<AdapterUser | undefined> {
  const store = ctx.service('store')
  const user = toUser(ctx, key, value)
  const create = async (accounts: readonly AccountTaken[]): Promise<boolean> => {
    try {
      if (store.supports('createUsers')) await store.createUsers([{ user, accounts }])
      else {
        await store.createUser(user)
        for (const account of accounts) await store.linkAccount({ ...account, userId: key })
      }
      return true
    } catch (error) {
      if (error instanceof AdapterError && (await isThere(ctx))) return false
      throw error
    }
  }
  // Where an account has another owner here, the user comes without it, and the account is listed.
  return (await create(value.accounts)) || (value.accounts.length > 0 && (await create([]))) ? user : undefined
}

/** Whether the store answers at all: a database that is gone must end the run, and not count as users who are taken. */
async function isThere(ctx: AnyContext): Promise<boolean> {
  await ctx.service('store').getUsers(['-'])
  return true
}

async function updateOne(ctx: AnyContext, id: string, value: UserTaken, over: string): Promise<string | undefined> {
  const store = ctx.service('store')
  const user = await store.getUser(id)
  if (!user || (await versionOf(user)) !== over) return undefined
  const { email, emailVerified, name, image } = value
  const moved = email !== undefined && email !== user.email
  // What was verified here stays verified: the source may not know it.
  const verified = emailVerified === true && !user.emailVerified ? ctx.now : moved && emailVerified !== true ? null : undefined
  const change = {
    id,
    ...(moved && { email: email as string }),
    ...(verified !== undefined && { emailVerified: verified }),
    ...(name !== undefined && { name }),
    ...(image !== undefined && { image }),
  }
  try {
    // Custom fields of the host may be among the changes. The type of a user does not list them.
    return await versionOf(await store.updateUser(change as never))
  } catch (error) {
    if (error instanceof AdapterError && (await isThere(ctx))) return undefined
    throw error
  }
}

function toUser(ctx: AnyContext, id: string, { email, emailVerified, name, image, fields }: UserTaken): AdapterUser {
  return {
    id,
    email: (email ?? null) as string,
    emailVerified: email != null && emailVerified === true ? ctx.now : null,
    name: name ?? null,
    image: image ?? null,
    ...fields,
  }
}

/** Of what a source can say. `emailVerified` is not in it: to prove an address here is no change that a source could replace. */
async function versionOf({ email, name, image }: AdapterUser): Promise<string> {
  return toHex(await sha256(JSON.stringify([email ?? null, name ?? null, image ?? null])))
}

function isSame(user: AdapterUser, { email, emailVerified, name, image }: UserTaken): boolean {
  return (
    (email === undefined || email === (user.email ?? null)) &&
    (name === undefined || name === (user.name ?? null)) &&
    (image === undefined || image === (user.image ?? null)) &&
    (emailVerified !== true || email == null || Boolean(user.emailVerified))
  )
}

/** Before the first migration there are no tables: nothing is here then. */
async function readOrNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof AdapterError) return undefined
    throw error
  }
}
