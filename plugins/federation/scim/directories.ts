/** Directories of organizations: created, listed, changed and removed by the host app or an owner. */
import type { AnyContext, Kernel, Row } from 'authkernel/kernel'
import { listRows, readRows } from 'authkernel/kernel/stores'
import type {} from 'authkernel/plugins/organizations'
import { endDirectoryAccess } from './access.ts'
import { type Dialect, dialects, isDialect } from './dialects.ts'
import { type DirectoryRules, readRules } from './options.ts'
import type { DirectoryRow } from './tables.ts'

/** A directory as the host app sees it. */
export interface Directory {
  id: string
  organizationId: string
  name: string
  rules: DirectoryRules
  /** How many users it has provisioned. */
  users: number
  /** How many groups it has provisioned. */
  groups: number
  /** The dialect that was chosen; null: as detected. */
  dialect: Dialect | null
  /** The product that its requests show; null: not known yet. */
  detected: Dialect | null
  created: Date
}
/** What a new directory needs. */
export interface NewDirectory {
  organizationId: string
  /** 1 to 100 characters, for the audit log and the pages: "Okta". */
  name: string
  rules?: DirectoryRules
  /** The product that sends; default null: as detected. `standard` rejects what RFC 7644 does not have. */
  dialect?: Dialect | null
}

/** Throws TypeError for a wrong name, rule or dialect, and for an organization that does not exist. */
export async function createDirectory(
  ctx: AnyContext,
  { organizationId, name, rules = {}, dialect = null }: NewDirectory,
): Promise<Directory> {
  if (!(await ctx.service('organizations').get(ctx, organizationId))) throw new TypeError('scim: there is no such organization.')
  const row = await ctx.records('scimDirectory').create({
    organizationId,
    name: readName(name),
    rules: await readOwnRules(ctx, organizationId, rules),
    users: 0,
    groups: 0,
    dialect: readDialect(dialect),
    detected: null,
    created: ctx.now,
  })
  return toDirectory(row)
}

/** Oldest first, at most 100. */
export async function listDirectories(ctx: AnyContext, organizationId: string): Promise<Directory[]> {
  const { rows } = await ctx.records('scimDirectory').find({ where: { organizationId }, limit: 100 })
  return rows.map(toDirectory)
}

/** Null: there is no such directory. Rules apply to users when their groups change next, and to all of them by a resync. */
export async function updateDirectory(
  ctx: AnyContext,
  id: string,
  { name, rules, dialect }: { name?: string; rules?: DirectoryRules; dialect?: Dialect | null },
): Promise<Directory | null> {
  const former = await ctx.records('scimDirectory').get(id)
  if (!former) return null
  const row = await ctx.records('scimDirectory').update(id, {
    ...(name !== undefined && { name: readName(name) }),
    ...(rules !== undefined && { rules: await readOwnRules(ctx, former.organizationId, rules) }),
    ...(dialect !== undefined && { dialect: readDialect(dialect) }),
  })
  return row && toDirectory(row)
}

/**
 * Ends the connection: its tokens stop first, then what it stored is removed. Users and memberships stay. A user whom it has switched off stays suspended in the
 * organization. False: there is no such directory.
 */
export async function deleteDirectory(ctx: AnyContext, id: string): Promise<boolean> {
  const directory = await ctx.records('scimDirectory').get(id)
  if (!directory) return false
  const where = { directoryId: id }
  await ctx.records('scimToken').deleteWhere({ where })
  await ctx.records('scimClient').deleteWhere({ where })
  // The rows of users who are switched off guard their access: it is ended for good before they go.
  for await (const row of readRows(ctx.records('scimUser'), { where })) if (!row.active) await endDirectoryAccess(ctx, row)
  await deleteStored(ctx, id)
  const isDeleted = await ctx.records('scimDirectory').delete(id)
  // A request that was under way may have written a user meanwhile: without its directory a row would guard the user for ever.
  await deleteStored(ctx, id)
  return isDeleted
}

async function deleteStored(ctx: AnyContext, directoryId: string): Promise<void> {
  for (const record of ['scimMember', 'scimEmail', 'scimGroup', 'scimUser', 'scimCall'] as const)
    await ctx.records(record).deleteWhere({ where: { directoryId } })
}

/**
 * With an organization its directories go. Where that fails no token of them is accepted and no row of them rejects a user: both ask for the organization. A clean-up
 * removes what is left.
 */
export function endWithOrganization(kernel: Kernel): void {
  kernel.on('organizationChanged', async ({ act, organizationId, ctx }) => {
    if (act !== 'deleted') return
    for (const { id } of await listRows(ctx.records('scimDirectory'), { where: { organizationId } })) await deleteDirectory(ctx, id)
  })
  kernel.on('tenantCleanedUp', async ({ ctx }) => {
    for await (const { id, organizationId } of readRows(ctx.records('scimDirectory'), {}))
      if (!(await ctx.service('organizations').get(ctx, organizationId))) await deleteDirectory(ctx, id)
  })
}

/** Rules whose teams are those of the organization. Throws TypeError. */
export async function readOwnRules(ctx: AnyContext, organizationId: string, given: DirectoryRules): Promise<DirectoryRules> {
  const rules = readRules(given)
  if (rules.teams?.length) {
    const teams = new Set((await ctx.service('organizations').listTeams(ctx, organizationId)).map(({ id }) => id))
    const unknown = rules.teams.find(({ team }) => !teams.has(team))
    if (unknown) throw new TypeError(`scim: the organization has no team with the id "${unknown.team}".`)
  }
  return rules
}

function toDirectory({ id, organizationId, name, rules, users, groups, dialect, detected, created }: Row<DirectoryRow>): Directory {
  const known = { dialect: isDialect(dialect) ? dialect : null, detected: isDialect(detected) ? detected : null }
  return { id, organizationId, name, rules: (rules ?? {}) as DirectoryRules, users, groups, ...known, created }
}

function readDialect(dialect: unknown): Dialect | null {
  if (dialect === null || isDialect(dialect)) return dialect
  throw new TypeError(`scim: \`dialect\` must be null or one of ${dialects.map((one) => one.dialect).join(', ')}.`)
}

function readName(name: unknown): string {
  if (typeof name !== 'string' || name.trim() === '' || name.length > 100 || /\p{Cc}/u.test(name))
    throw new TypeError('scim: `name` must be 1 to 100 characters.')
  return name.trim()
}
