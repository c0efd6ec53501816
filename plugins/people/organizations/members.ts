/** Members and their roles. Every change is written under the version of the organization that its rights were read with. */
import { AccessDenied, type AtomicWrite, type Row } from 'authkernel/kernel'
import { type Actor, isId, findMember, type Membership, requireMembership } from './actor.ts'
import {
  AlreadyMember,
  LastOwner,
  NoSuchOrganization,
  OrganizationBusy,
  OrganizationDenied,
  OrganizationFull,
  OrganizationInput,
} from './errors.ts'
import { emitChange } from './events.ts'
import { coversRole } from './roles.ts'
import type { MemberRow } from './tables.ts'

/** A member as the others see it. */
export interface Member {
  userId: string
  role: string
  joined: Date
  /** Null: unknown, also for users of other tenants. */
  name: string | null
  email: string | null
  image: string | null
}
/** Members in the order of joining. */
export interface MemberPage {
  members: Member[]
  /** Give it as `cursor`; undefined: this was the last page. */
  cursor: string | undefined
}
/** Which members. */
export interface MemberSearch {
  /** Default: all. */
  role?: string | undefined
  cursor?: string | undefined
  /** Default 50, at most 200. */
  limit?: number | undefined
}

export async function listMembers(actor: Actor, id: string, { role, cursor, limit = 50 }: MemberSearch = {}): Promise<MemberPage> {
  const { rows, ctx } = await requireMembership(actor, id, 'member:read')
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new OrganizationInput('organizations.members: `limit` must be a whole number from 1 to 200.')
  const where = { organizationId: id, ...(role !== undefined && { role: readRole(actor, role) }) }
  const page = await rows.records('organizationMember').find({ where, limit, cursor })
  const users = await ctx.store?.getUsers(page.rows.map(({ userId }) => userId))
  const known = new Map(users?.map((user) => [user.id, user]))
  const members = page.rows.map(({ userId, role: held, joined }) => {
    const { name = null, email = null, image = null } = known.get(userId) ?? {}
    return { userId, role: held, joined, name, email, image }
  })
  return { members, cursor: page.cursor }
}

/** Throws LastOwner, and AccessDenied for a role that may do more than the own one. */
export async function setRole(actor: Actor, id: string, userId: string, role: string): Promise<void> {
  const wanted = readRole(actor, role)
  await changeUnderVersion(actor, id, 'member:role', async (membership) => {
    const target = await requireMember(membership, userId)
    assertCovers(membership, target.role, wanted)
    if (target.role === wanted) return null
    if (target.role === 'owner') await assertOtherOwner(membership)
    return [{ record: 'organizationMember', update: target.id, change: { role: wanted }, if: { role: target.role } }]
  })
  await emitChange(actor, 'member.role', id, { userId, role: wanted })
}

/** The own role becomes `admin`, or that of `role`. */
export async function transferOwnership(actor: Actor, id: string, userId: string, role = 'admin'): Promise<void> {
  const after = readRole(actor, role)
  await changeUnderVersion(actor, id, 'organization:transfer', async (membership) => {
    const [target, own] = [await requireMember(membership, userId), actor.user && (await findMember(membership.rows, id, actor.user.id))]
    if (actor.user && own?.role !== 'owner')
      throw new OrganizationDenied('organizations.transfer: only an owner can hand the organization over.')
    if (target.id === own?.id) return null
    return [
      { record: 'organizationMember', update: target.id, change: { role: 'owner' }, if: { role: target.role } },
      ...(own ? [{ record: 'organizationMember' as const, update: own.id, change: { role: after }, if: { role: 'owner' } }] : []),
    ]
  })
  await emitChange(actor, 'transferred', id, { userId, role: 'owner' })
}

/** Takes a member out. Throws LastOwner. */
export async function removeMember(actor: Actor, id: string, userId: string): Promise<void> {
  await changeUnderVersion(actor, id, 'member:remove', async (membership) => {
    const target = await requireMember(membership, userId)
    assertCovers(membership, target.role)
    return writesOfLeaving(membership, target)
  })
  await removeFromTeams(actor, id, userId)
  await emitChange(actor, 'member.removed', id, { userId })
}

/** Needs no permission. Throws LastOwner. */
export async function leaveOrganization(actor: Actor, id: string): Promise<void> {
  const userId = actor.user?.id
  if (userId === undefined) throw new OrganizationInput('organizations.leave: name a user.')
  await changeUnderVersion(actor, id, undefined, async (membership) => writesOfLeaving(membership, await requireMember(membership, userId)))
  await removeFromTeams(actor, id, userId)
  await emitChange(actor, 'member.left', id, { userId })
}

/**
 * For a user who is being deleted. Where there is no other owner, `handOver` makes an owner of the member with the most permissions; false: there is no
 * other member. Throws LastOwner without `handOver`.
 */
export async function giveUpOwnership(actor: Actor, id: string, userId: string, handOver: boolean): Promise<boolean> {
  const end: { heir: Row<MemberRow> | undefined; alone: boolean } = { heir: undefined, alone: false }
  await changeUnderVersion(actor, id, undefined, async (membership) => {
    const target = await findMember(membership.rows, id, userId)
    if (target?.role !== 'owner') return null
    const leave: AtomicWrite = { record: 'organizationMember', take: target.id, if: { role: 'owner' } }
    if (!handOver) await assertOtherOwner(membership)
    const last = handOver && (await countOwners(membership)) < 2
    const heir = last ? await findHeir(membership) : undefined
    Object.assign(end, { heir, alone: last && !heir })
    if (end.alone) return null
    return heir ? [{ record: 'organizationMember', update: heir.id, change: { role: 'owner' }, if: { role: heir.role } }, leave] : [leave]
  })
  if (end.alone) return false
  if (end.heir) await emitChange(actor, 'transferred', id, { userId: end.heir.userId, role: 'owner' })
  await emitChange(actor, 'member.left', id, { userId })
  return true
}

/** Without an invitation: for the host's own code alone. */
export async function addMember(actor: Actor, id: string, userId: string, role = 'member'): Promise<void> {
  if (actor.user) throw new AccessDenied('organizations.add: people are invited. Call it with { system: true } from your own code.')
  const wanted = readRole(actor, role)
  if (!isId(userId) || !(await actor.ctx.store?.getUser(userId))) throw new OrganizationInput('organizations.add: there is no such user.')
  await joinOrganization(await requireMembership(actor, id), userId, wanted)
  await emitChange(actor, 'member.added', id, { userId, role: wanted })
}

/** A new member, with what else must be written in the same commit. Throws AlreadyMember, OrganizationFull; false: `more` or the rights did not hold. */
export async function joinOrganization(
  membership: Membership,
  userId: string,
  role: string,
  more: readonly AtomicWrite[] = [],
): Promise<boolean> {
  const { organization, rows, ctx, options } = membership
  const { id, version } = organization
  const { members: given } = options.limits
  const max = typeof given === 'function' ? await given({ organization: { id, name: organization.name }, ctx }) : given
  for (let tries = 0; ; tries++) {
    const done = await rows.atomic([
      { record: 'organization', increment: id, field: 'members', by: 1, max, if: { closing: false, version } },
      { record: 'organizationMember', create: { organizationId: id, userId, role, joined: ctx.now } },
      ...more,
    ])
    if (done) return true
    if (await findMember(rows, id, userId)) throw new AlreadyMember('organizations: the person is a member already.')
    const now = await rows.records('organization').get(id)
    if (!now || now.members < max || tries > 0) {
      if (now && now.members >= max) throw new OrganizationFull(`organizations: there are ${max} members.`)
      return false
    }
    // Users that were deleted took their memberships with them, and are counted still.
    const real = await rows.records('organizationMember').count({ organizationId: id }, { max })
    if (real >= max) throw new OrganizationFull(`organizations: there are ${max} members.`)
    await rows.records('organization').update(id, { members: real }, { if: { members: now.members } })
  }
}

/** Rights are read, then `work` says what to write; both again when the organization was changed in between. Null: nothing to write. */
async function changeUnderVersion(
  actor: Actor,
  id: string,
  permission: string | undefined,
  work: (membership: Membership) => Promise<readonly AtomicWrite[] | null>,
): Promise<void> {
  for (let tries = 0; tries < 16; tries++) {
    const membership = await requireMembership(actor, id, permission)
    const writes = await work(membership)
    if (!writes) return
    const { version } = membership.organization
    const own = writes.some((write) => 'take' in write)
    const marked: AtomicWrite = own
      ? {
          record: 'organization',
          increment: id,
          field: 'members',
          by: -1,
          set: { version: version + 1 },
          if: { version, closing: false },
        }
      : { record: 'organization', update: id, change: { version: version + 1 }, if: { version, closing: false } }
    if (await actor.rows.atomic([marked, ...writes])) return
  }
  throw new OrganizationBusy('organizations: others changed the organization at the same moment. Try again.')
}

async function requireMember({ rows, organization }: Membership, userId: string): Promise<Row<MemberRow>> {
  const target = await findMember(rows, organization.id, userId)
  if (!target) throw new NoSuchOrganization('organizations: the person is no member.')
  return target
}

async function writesOfLeaving(membership: Membership, { id, role }: Row<MemberRow>): Promise<readonly AtomicWrite[]> {
  if (role === 'owner') await assertOtherOwner(membership)
  return [{ record: 'organizationMember', take: id, if: { role } }]
}

async function assertOtherOwner(membership: Membership): Promise<void> {
  const { id, name } = membership.organization
  if ((await countOwners(membership)) < 2)
    throw new LastOwner(`organizations: the last owner of "${name}" (${id}) stays one. Hand the organization over first, or delete it.`)
}

function countOwners({ rows, organization }: Membership): Promise<number> {
  return rows.records('organizationMember').count({ organizationId: organization.id, role: 'owner' }, { max: 2 })
}

/** Of those with the most permissions who joined first. */
async function findHeir({ rows, organization, options }: Membership): Promise<Row<MemberRow> | undefined> {
  const roles = [...options.roles].filter(([role]) => role !== 'owner').toSorted(([, one], [, other]) => other.size - one.size)
  for (const [role] of roles) {
    const { rows: found } = await rows.records('organizationMember').find({ where: { organizationId: organization.id, role }, limit: 1 })
    if (found[0]) return found[0]
  }
  return undefined
}

// Rows that are left grant nothing, because rights of a team hold for members alone.
async function removeFromTeams({ rows }: Actor, organizationId: string, userId: string): Promise<void> {
  await rows.records('organizationTeamMember').deleteWhere({ where: { organizationId, userId } })
}

export function assertCovers({ role, options: { roles } }: Membership, ...others: readonly string[]): void {
  if (role !== null && !others.every((other) => coversRole(roles, role, other)))
    throw new OrganizationDenied('organizations: a member cannot give, change or take a role that may do more than their own.')
}

export function readRole({ options }: Pick<Actor, 'options'>, role: unknown): string {
  if (typeof role !== 'string' || !options.roles.has(role))
    throw new OrganizationInput(`organizations: the role must be one of ${[...options.roles.keys()].join(', ')}.`)
  return role
}
