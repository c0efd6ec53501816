/** Where the app differs from what the directory said last, and from what the rules of the directory want. */
import { HttpError, type Row, type User } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/organizations'
import type { Connection } from './caller.ts'
import type { DirectoryRules } from './options.ts'
import { isOwnDomain, mayChange, readProfile } from './persons.ts'
import { findWantedPlace } from './rules.ts'
import type { ScimUserRow } from './tables.ts'
import { joinResource } from './users.ts'

/**
 * What differs. `user`: the app has deleted the user. `unknown`: a member whom the directory does not know. `member`: the directory has the user switched on, and
 * the app has no membership, or a suspended one. `access`: the directory has the user switched off, and the membership is in force.
 */
export type DifferenceKind = 'user' | 'unknown' | 'member' | 'access' | 'role' | 'team' | 'email' | 'name'

/** One difference between the app and the directory. */
export interface ScimDifference {
  kind: DifferenceKind
  userId: string
  /** Id of the resource; null: the directory does not know the user. */
  id: string | null
  userName: string | null
  /** As it is in the app; null: there is none. */
  app: string | null
  /** As the directory and its rules want it; null: nothing. */
  directory: string | null
  /** What a resync does about it. `restore`: only with that option, because an owner may have ended the membership. */
  resync: 'changes' | 'restores' | 'leaves'
}
/** A page of differences. */
export interface DifferencePage {
  differences: ScimDifference[]
  /** Give it as `cursor`; undefined: this was the last page. A page may be empty and not the last one. */
  cursor: string | undefined
}

/** Looks at `limit` users of the directory, and behind them at members whom it does not know. Throws HttpError 400 for a cursor of another list. */
export async function listDifferences(
  connection: Connection,
  { cursor, limit, rules }: { cursor?: string | undefined; limit: number; rules?: DirectoryRules | undefined },
): Promise<DifferencePage> {
  const [, list = 'users', inner] = /^(users|members) ?(.*)$/.exec(cursor ?? 'users') ?? []
  if (cursor !== undefined && !/^(?:users|members) ?/.test(cursor)) throw new HttpError(400, 'scim: `cursor` is none of this list.')
  const at = inner === '' ? undefined : inner
  return list === 'users' ? listOfUsers(connection, { at, limit, rules }) : listOfMembers(connection, { at, limit })
}

/** What differs for one user of the directory. */
export async function findDifferences(
  connection: Connection,
  row: Row<ScimUserRow>,
  stored: User | undefined,
  rules?: DirectoryRules,
): Promise<ScimDifference[]> {
  const create = (
    kind: DifferenceKind,
    app: string | null,
    directory: string | null,
    resync: ScimDifference['resync'] = 'changes',
  ): ScimDifference => ({ kind, userId: row.userId, id: row.id, userName: row.userName, app, directory, resync })
  if (!stored) return [create('user', null, row.userName, 'leaves')]
  const { ctx, directory } = connection
  const member = await ctx.service('organizations').findMember(ctx, { organizationId: directory.organizationId, userId: row.userId })
  const found = await listProfileDifferences(connection, row, stored, create)
  if (!row.active) return member && !member.suspended ? [...found, create('access', 'member', 'suspended')] : found
  if (!member || member.suspended) return [...found, create('member', member ? 'suspended' : null, 'member', 'restores')]
  const wanted = await findWantedPlace(connection, row.id, rules)
  if (wanted.role !== undefined && wanted.role !== member.role) found.push(create('role', member.role, wanted.role))
  if (wanted.teams.size === 0) return found
  const held = new Set(await ctx.service('organizations').teamsOf(ctx, { organizationId: directory.organizationId, userId: row.userId }))
  for (const [team, isIn] of wanted.teams) if (held.has(team) !== isIn) found.push(create('team', isIn ? null : team, isIn ? team : null))
  return found
}

async function listOfUsers(
  connection: Connection,
  { at, limit, rules }: { at: string | undefined; limit: number; rules: DirectoryRules | undefined },
): Promise<DifferencePage> {
  const { ctx, directory } = connection
  const page = await ctx.records('scimUser').find({ where: { directoryId: directory.id }, limit, cursor: at })
  const users = await findUsers(
    connection,
    page.rows.map(({ userId }) => userId),
  )
  const differences: ScimDifference[] = []
  for (const row of page.rows) differences.push(...(await findDifferences(connection, row, users.get(row.userId), rules)))
  return { differences, cursor: page.cursor === undefined ? 'members' : `users ${page.cursor}` }
}

async function listOfMembers(connection: Connection, { at, limit }: { at: string | undefined; limit: number }): Promise<DifferencePage> {
  const { ctx, directory } = connection
  const page = await ctx.service('organizations').listMembers(ctx, { organizationId: directory.organizationId, limit, cursor: at })
  const unknown: { userId: string; role: string }[] = []
  for (const { userId, role } of page.members)
    if (!(await ctx.records('scimUser').get({ directoryId: directory.id, userId }))) unknown.push({ userId, role })
  const users = await findUsers(
    connection,
    unknown.map(({ userId }) => userId),
  )
  const differences = unknown.map(({ userId, role }): ScimDifference => {
    const userName = users.get(userId)?.email ?? null
    return { kind: 'unknown', userId, id: null, userName, app: role, directory: null, resync: 'leaves' }
  })
  return { differences, cursor: page.cursor === undefined ? undefined : `members ${page.cursor}` }
}

async function listProfileDifferences(
  connection: Connection,
  row: Row<ScimUserRow>,
  stored: User,
  create: (kind: DifferenceKind, app: string | null, directory: string | null, resync?: ScimDifference['resync']) => ScimDifference,
): Promise<ScimDifference[]> {
  const { email, name } = readProfile(joinResource(row))
  const found: ScimDifference[] = []
  const held = stored.email ?? null
  const may = await mayChange(connection, stored)
  if (held !== email) {
    // As a change by the directory: an address of another domain is the user's own.
    const changes = may && (await isOwnDomain(connection, email)) && (held === null || (await isOwnDomain(connection, held)))
    found.push(create('email', held, email, changes ? 'changes' : 'leaves'))
  }
  if (name !== null && name !== (stored.name ?? null)) found.push(create('name', stored.name ?? null, name, may ? 'changes' : 'leaves'))
  return found
}

async function findUsers({ ctx }: Connection, ids: readonly string[]): Promise<ReadonlyMap<string, User>> {
  const users = ids.length === 0 ? [] : await ctx.service('store').getUsers([...new Set(ids)])
  return new Map(users.map((user) => [user.id, user]))
}
