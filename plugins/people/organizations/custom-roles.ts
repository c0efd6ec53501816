/** Roles that the members of one organization make, of permissions that the host's code declares. */
import { type AtomicWrite, randomHex, type Row } from 'authkernel/kernel'
import { type Actor, isRowId, type Membership, requireMembership } from './actor.ts'
import { OrganizationBusy, OrganizationDenied, OrganizationFull, OrganizationInput, OrganizationTaken, RoleInUse } from './errors.ts'
import { emitChange } from './events.ts'
import { readName } from './organizations.ts'
import { coversPermissions } from './roles.ts'
import type { RoleRow } from './tables.ts'

/** A role of an organization. */
export interface OrganizationRole {
  /** What members are given. */
  role: string
  /** Name for users; null: a role of the options, whose name is a text of the pages. */
  title: string | null
  permissions: readonly string[]
  /** Whether the members made it, and may change it. */
  custom: boolean
}
/** What a role is made from. */
export interface NewRole {
  /** 1 to 100 characters, unique in the organization. */
  title: string
  /** `thing:action`, of those that the statements declare. */
  permissions: readonly string[]
}

/** Needs `member:read`. Those of the options first. */
export async function listRoles(actor: Actor, id: string): Promise<OrganizationRole[]> {
  const { rows, options } = await requireMembership(actor, id, 'member:read')
  const made = await rows.records('organizationRole').find({ where: { organizationId: id }, limit: 1000 })
  const declared = [...options.roles].map(([role, permissions]) => ({ role, title: null, permissions: [...permissions], custom: false }))
  return [...declared, ...made.rows.map((row) => toRole(row, options.all))]
}

/** Needs `role:create`, and each of the permissions. */
export async function createRole(actor: Actor, id: string, { title, permissions }: NewRole): Promise<OrganizationRole> {
  const membership = await requireMembership(actor, id, 'role:create')
  const { rows, ctx, options } = membership
  const [wanted, rights] = [readName(title), readPermissions(membership, permissions)]
  const { roles: most } = options.limits
  if ((await rows.records('organizationRole').count({ organizationId: id }, { max: most })) >= most)
    throw new OrganizationFull(`organizations.roles.create: there are ${most} roles.`)
  const key = `custom-${randomHex(ctx.runtime, 8)}`
  const row = { organizationId: id, key, title: wanted, permissions: rights, created: ctx.now }
  await writeRole(membership, wanted, { record: 'organizationRole', create: row })
  await emitChange(actor, 'role.created', id, { id: key })
  return { role: key, title: wanted, permissions: rights, custom: true }
}

/** Needs `role:update`, and each permission that the role has before and after. What members may do changes at once. */
export async function updateRole(actor: Actor, id: string, role: string, change: Partial<NewRole>): Promise<OrganizationRole> {
  const membership = await requireMembership(actor, id, 'role:update')
  const row = await requireRole(membership, role)
  const title = change.title === undefined ? row.title : readName(change.title)
  const permissions = change.permissions === undefined ? row.permissions : readPermissions(membership, change.permissions)
  await writeRole(membership, title, { record: 'organizationRole', update: row.id, change: { title, permissions }, if: { key: role } })
  await emitChange(actor, 'role.updated', id, { id: role })
  return toRole({ ...row, title, permissions }, membership.options.all)
}

/** Needs `role:delete`, and each permission of the role. Throws RoleInUse while it is the main role of a member. Beside another role it ends. */
export async function deleteRole(actor: Actor, id: string, role: string): Promise<void> {
  const membership = await requireMembership(actor, id, 'role:delete')
  const row = await requireRole(membership, role)
  // A member who gets it at this moment raises the version, and the write below finds another one.
  if ((await membership.rows.records('organizationMember').count({ organizationId: id, role }, { max: 1 })) > 0)
    throw new RoleInUse('organizations.roles.delete: members have the role. Give them another one first.')
  await writeRole(membership, row.title, { record: 'organizationRole', take: row.id, if: { key: role } })
  await emitChange(actor, 'role.deleted', id, { id: role })
}

/** Under the version with which the rights were read. */
async function writeRole({ rows, organization }: Membership, title: string, write: AtomicWrite): Promise<void> {
  const { id, version } = organization
  const change = { version: version + 1 }
  if (await rows.atomic([{ record: 'organization', update: id, change, if: { version, closing: false } }, write])) return
  const other = await rows.records('organizationRole').get({ organizationId: id, title })
  if (other && 'create' in write) throw new OrganizationTaken('organizations.roles: the title is taken.')
  if (other && 'update' in write && other.id !== write.update) throw new OrganizationTaken('organizations.roles: the title is taken.')
  throw new OrganizationBusy('organizations.roles: others changed the organization at the same moment. Try again.')
}

/** A role that the members made, with no permission that the actor has not. */
async function requireRole(membership: Membership, role: unknown): Promise<Row<RoleRow>> {
  const { rows, organization } = membership
  const row = isRowId(role) ? await rows.records('organizationRole').get({ organizationId: organization.id, key: role }) : null
  if (!row) throw new OrganizationInput('organizations.roles: the organization has made no such role.')
  assertCoversPermissions(membership, row.permissions)
  return row
}

function readPermissions(membership: Membership, given: unknown): string[] {
  const { all } = membership.options
  if (!Array.isArray(given) || given.length > all.size || !given.every((one) => typeof one === 'string' && all.has(one)))
    throw new OrganizationInput('organizations.roles: `permissions` must be a list of permissions that the statements declare.')
  const permissions = [...new Set(given as string[])]
  // The last owner and the transfer rest on the role `owner` alone.
  if (permissions.some((one) => one === 'organization:delete' || one === 'organization:transfer'))
    throw new OrganizationInput('organizations.roles: only owners delete an organization and hand it over.')
  assertCoversPermissions(membership, permissions)
  return permissions
}

function assertCoversPermissions({ held, roles }: Membership, permissions: readonly string[]): void {
  if (held !== null && !coversPermissions(roles, held, permissions))
    throw new OrganizationDenied('organizations.roles: a member cannot give or change permissions that their own roles do not have.')
}

function toRole({ key, title, permissions }: RoleRow, all: ReadonlySet<string>): OrganizationRole {
  return { role: key, title, permissions: permissions.filter((one) => all.has(one)), custom: true }
}
