/** Looks through a store after a kill or after load: what was reported must be there, and nothing may be half there. */
import type { Adapter } from 'authkernel/kernel'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { type SqlSpec, storageOf, type StoreSpec, openOutside } from './_stores.ts'

/** Expects what a worker's `churn` reported before it ended. */
export async function expectKept(adapter: Required<Adapter>, told: readonly Record<string, unknown>[]): Promise<void> {
  const deleting = new Set(told.flatMap((message) => ('deleting' in message ? [message.deleting] : [])))
  for (const message of told) {
    const made = message.made as { user: string; email: string; account: string } | undefined
    if (made && !deleting.has(made.user)) {
      expect(await adapter.getUserByEmail(made.email)).toMatchObject({ id: made.user })
      expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: made.account })).toMatchObject({ id: made.user })
    }
    if (message.used) expect(await adapter.useVerificationToken(message.used as { identifier: string; token: string })).toBeNull()
    if (message.deleted) {
      expect(await adapter.getUser(message.deleted as string)).toBeNull()
      expect(await adapter.getAccount(message.account as string, 'acme')).toBeNull()
      expect(await adapter.getSessionAndUser(message.session as string)).toBeNull()
    }
  }
}

/** Users without an account, records without a user, two of what may be one, and index entries that point to nothing, in words. */
export function findHalves(spec: StoreSpec): Promise<string[]> {
  return 'name' in spec ? halvesOfTables(spec) : halvesOfKeys(spec)
}

async function halvesOfTables(spec: SqlSpec): Promise<string[]> {
  const db = openOutside(spec)
  const found: string[] = []
  const count = async (what: string, query: ReturnType<typeof sql>): Promise<void> => {
    const { rows } = await sql<{ n: unknown }>`select count(*) as n from ${query}`.execute(db)
    if (Number(rows[0]!.n) > 0) found.push(`${Number(rows[0]!.n)} ${what}`)
  }
  const [id, owner] = [sql.id('users', 'id'), sql.id('userId')]
  await count(
    'users without an account',
    sql`${sql.id('users')} where not exists (select 1 from ${sql.id('accounts')} where ${sql.id('accounts', 'userId')} = ${id})`,
  )
  for (const table of ['accounts', 'sessions', 'authenticators']) {
    await count(
      `${table} without a user`,
      sql`${sql.id(table)} where not exists (select 1 from ${sql.id('users')} where ${id} = ${sql.id(table)}.${owner})`,
    )
  }
  for (const [table, columns] of [
    ['users', ['email']],
    ['accounts', ['provider', 'providerAccountId']],
    ['sessions', ['sessionToken']],
    ['verification_token', ['identifier', 'token']],
  ] as const) {
    const list = sql.join(columns.map((column) => sql.id(column)))
    await count(
      `doubles in ${table}`,
      sql`(select 1 as ${sql.id('one')} from ${sql.id(table)} group by ${list} having count(*) > 1) as ${sql.id('d')}`,
    )
  }
  await db.destroy()
  return found
}

type Row = Record<string, string>
const kinds = [
  ['account', /^user:account:(?!by-)/, /^user:account:by-/, ({ provider, providerAccountId }: Row) => [provider, providerAccountId]],
  ['session', /^user:session:(?!by-)/, /^user:session:by-/, ({ sessionToken }: Row) => [sessionToken]],
  ['token', /^user:token:(?!by-)/, /^user:token:by-/, ({ token }: Row) => [token]],
  ['authenticator', /^authenticator:(?!by-)/, /^authenticator:by-/, ({ credentialID }: Row) => [credentialID]],
] as const

async function halvesOfKeys(spec: Exclude<StoreSpec, SqlSpec>): Promise<string[]> {
  const storage = storageOf(spec)
  const rows = new Map<string, unknown>()
  for (const key of await storage.getKeys()) rows.set(key, await storage.getItem(key))
  await storage.dispose()
  const found: string[] = []
  const under = (pattern: RegExp): [string, Row][] => [...rows].filter(([key]) => pattern.test(key)) as [string, Row][]
  const users = new Map(under(/^user:[^:]+$/).map(([, user]) => [user.id!, user]))
  const addresses = new Set<unknown>()
  for (const [key, id] of under(/^user:email:/) as unknown as [string, string][]) {
    addresses.add(id)
    if (!users.has(id)) found.push(`${key} points to no user`)
  }
  for (const [kind, records, lists, nameOf] of kinds) {
    const there = new Map(under(records).map(([key, row]) => [JSON.stringify(nameOf(row)), { key, row }]))
    const listed = under(lists).flatMap(([key, entries]) =>
      (entries as unknown as (string | { key: string[] })[]).map((entry) => ({
        key,
        name: JSON.stringify(typeof entry === 'string' ? [entry] : entry.key),
      })),
    )
    for (const { key, name } of listed) if (!there.has(name)) found.push(`${key} lists ${name}, which is not there`)
    const known = new Set(listed.map(({ name }) => name))
    for (const [name, { key, row }] of there) {
      if (!known.has(name)) found.push(`${key} is in no list of ${kind}s`)
      if (kind !== 'token' && !users.has(row.userId!)) found.push(`${key} has no user`)
    }
  }
  const owners = new Set(under(/^user:account:(?!by-)/).map(([, row]) => row.userId))
  for (const id of users.keys()) {
    if (!owners.has(id)) found.push(`user ${id} has no account`)
    if (!addresses.has(id)) found.push(`user ${id} has no address`)
  }
  return found
}
