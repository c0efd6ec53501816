/** Members and their roles. Every change is written under the version of the organization that its rights were read with. */
import { AccessDenied, type AnyContext, type AtomicWrite, type Row, toAddress } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { type Actor, isId, findMember, findMembershipRow, type Membership, requireMembership } from './actor.ts'
import {
  AlreadyMember,
  LastOwner,
  NoSuchOrganization,
  OrganizationBusy,
  OrganizationDenied,
  OrganizationFull,
  OrganizationInput,
} from './errors.ts'
import { emitChange, historyWrites } from './events.ts'
import { departureWrite, forgetDeparture } from './departures.ts'
import { coversRole, heldRoles } from './roles.ts'
import type { MemberRow } from './tables.ts'

const maxRoles = 10

/** Of several roles the first is the main one. Throws LastOwner, and AccessDenied for a role that may do more than the own ones. */
export async function setRole(actor: Actor, id: string, userId: string, role: string | readonly string[]): Promise<void> {
  const given = typeof role === 'string' ? [role] : [...role]
  if (given.length === 0 || given.length > maxRoles) throw new OrganizationInput(`organizations.setRole: give 1 to ${maxRoles} roles.`)
  let [formerRole, mainRole] = ['', '']
  await changeUnderVersion(actor, id, 'member:role', async (membership) => {
    const wanted = [...new Set(given.map((one) => readRole(membership, one)))]
    // An owner may do everything: no role beside it changes that.
    const [main = '', ...more] = wanted.includes('owner') ? ['owner'] : wanted
    const target = await requireMember(membership, userId)
    const held = heldRoles(target)
    formerRole = target.role
    mainRole = main
    assertCovers(membership, ...held, ...wanted)
    if (held.join(' ') === [main, ...more].join(' ')) return null
    if (main !== 'owner') await assertOtherOwner(membership, target)
    const change = { role: main, roles: more.length > 0 ? more : null }
    return [{ record: 'organizationMember', update: target.id, change, if: { role: target.role } }]
  })
  await emitChange(actor, 'member.role', id, { userId, role: mainRole, formerRole })
}

/** The own role becomes `admin`, or that of `role`. */
export async function transferOwnership(actor: Actor, id: string, userId: string, role = 'admin'): Promise<void> {
  await changeUnderVersion(actor, id, 'organization:transfer', async (membership) => {
    const after = readRole(membership, role)
    const [target, own] = [await requireMember(membership, userId), actor.user && (await findMember(membership.rows, id, actor.user.id))]
    if (actor.user && own?.role !== 'owner')
      throw new OrganizationDenied('organizations.transfer: only an owner can hand the organization over.')
    if (target.id === own?.id) return null
    if (target.suspended !== null)
      throw new OrganizationInput('organizations.transfer: the member is suspended. Restore the membership first.')
    return [
      { record: 'organizationMember', update: target.id, change: { role: 'owner', roles: null }, if: { role: target.role } },
      ...(own ? [{ record: 'organizationMember' as const, update: own.id, change: { role: after }, if: { role: 'owner' } }] : []),
    ]
  })
  await emitChange(actor, 'transferred', id, { userId, role: 'owner' })
}

/** Takes a member out. Throws LastOwner. */
export async function removeMember(actor: Actor, id: string, userId: string): Promise<void> {
  await changeUnderVersion(actor, id, 'member:remove', async (membership) => {
    const target = await findMembershipRow(membership.rows, id, userId)
    // What a removal that was interrupted has left.
    if (!target && isId(userId)) await endMembership(actor, id, userId)
    if (!target) throw noMember()
    assertCovers(membership, ...heldRoles(target))
    return [...(await writesOfLeaving(membership, target, true)), ...(await writesOfWithdrawal(membership, userId))]
  })
  await endMembership(actor, id, userId)
  await emitChange(actor, 'member.removed', id, { userId })
}

/** A user who came by another way than the invitation has an open one, which would bring them back. */
async function writesOfWithdrawal({ ctx, rows, organization }: Membership, userId: string): Promise<readonly AtomicWrite[]> {
  const email = toAddress((await ctx.store?.getUser(userId))?.email)
  const open = email === undefined ? null : await rows.records('organizationInvitation').get({ organizationId: organization.id, email })
  return open ? [{ record: 'organizationInvitation', take: open.id }] : []
}

/** Needs no permission. Throws LastOwner. */
export async function leaveOrganization(actor: Actor, id: string): Promise<void> {
  const userId = actor.user?.id
  if (userId === undefined) throw new OrganizationInput('organizations.leave: name a user.')
  await changeUnderVersion(actor, id, undefined, async (membership) =>
    writesOfLeaving(membership, await requireMember(membership, userId), false),
  )
  await endMembership(actor, id, userId)
  await emitChange(actor, 'member.left', id, { userId })
}

/**
 * For a user who is being deleted. Where there is no other owner, `handOver` makes an owner of the member with the most permissions; false: there is no
 * other member. Throws LastOwner without `handOver`.
 */
export async function giveUpOwnership(actor: Actor, id: string, userId: string, handOver: boolean): Promise<boolean> {
  const end: { heir: Row<MemberRow> | undefined; alone: boolean } = { heir: undefined, alone: false }
  await changeUnderVersion(actor, id, undefined, async (membership) => {
    const target = await findMembershipRow(membership.rows, id, userId)
    if (target?.role !== 'owner') return null
    const leave: AtomicWrite = { record: 'organizationMember', take: target.id, if: { role: 'owner' } }
    if (!handOver) await assertOtherOwner(membership, target)
    const last = handOver && target.suspended === null && (await countOwners(membership.rows, id)) < 2
    const heir = last ? await findHeir(membership) : undefined
    Object.assign(end, { heir, alone: last && !heir })
    if (end.alone) return null
    return heir
      ? [{ record: 'organizationMember', update: heir.id, change: { role: 'owner', roles: null }, if: { role: heir.role } }, leave]
      : [leave]
  })
  if (end.alone) return false
  if (end.heir) await emitChange(actor, 'transferred', id, { userId: end.heir.userId, role: 'owner' })
  await emitChange(actor, 'member.left', id, { userId })
  return true
}

/** How a member is added. */
export interface Addition {
  role?: string | undefined
  /** The caller has created the user in this request: the user is there, and was never a member. */
  isNew?: boolean | undefined
  /** Written in the same commit: `before` as first, `after` as last. */
  before?: readonly AtomicWrite[] | undefined
  after?: readonly AtomicWrite[] | undefined
}

/** Without an invitation: for the host's own code alone. False: `before` or `after` did not hold, and nothing is written. Throws OrganizationBusy. */
export async function addMember(actor: Actor, id: string, userId: string, addition: Addition = {}): Promise<boolean> {
  const { ctx, rows, user } = actor
  const { role = 'member', isNew = false, before = [], after = [] } = addition
  if (user) throw new AccessDenied('organizations.add: users are invited. Call it with { system: true } from your own code.')
  for (let tries = 0; tries < 16; tries++) {
    const membership = await requireMembership(actor, id)
    const wanted = readRole(membership, role)
    if (!isId(userId) || !(isNew || (await ctx.store?.getUser(userId))))
      throw new OrganizationInput('organizations.add: there is no such user.')
    const change = { act: 'member.added' as const, organizationId: id, by: null, userId, role: wanted }
    const writes = { before: [...before, ...historyWrites(actor, change)], after, isNew }
    if (await joinOrganization(membership, userId, wanted, writes)) {
      await ctx.emit('organizationChanged', change)
      return true
    }
    const isSame = (await rows.records('organization').get(id))?.version === membership.organization.version
    if (isSame && before.length + after.length > 0) return false
  }
  throw new OrganizationBusy('organizations.add: others changed the organization at the same moment. Try again.')
}

/**
 * A new member, with what else must be written in the same commit. Throws AlreadyMember, OrganizationFull; false: the other writes or the rights did not hold.
 * All joins wait for the row of the organization: what needs no row of others is written `before`.
 */
export async function joinOrganization(
  membership: Actor & Pick<Membership, 'organization'>,
  userId: string,
  role: string,
  { before = [], after = [], isNew = false }: Pick<Addition, 'before' | 'after' | 'isNew'> = {},
): Promise<boolean> {
  const { organization, rows, ctx, options } = membership
  const { id, version } = organization
  const { members: given } = options.limits
  const max = typeof given === 'function' ? await given({ organization: { id, name: organization.name }, ctx }) : given
  for (let tries = 0; ; tries++) {
    const done = await rows.atomic([
      ...before,
      { record: 'organization', increment: id, field: 'members', by: 1, max, if: { closing: false, version } },
      { record: 'organizationMember', create: { organizationId: id, userId, role, joined: ctx.now } },
      ...after,
    ])
    if (done) {
      if (!isNew) await forgetDeparture(rows, id, userId)
      return true
    }
    if (await findMembershipRow(rows, id, userId)) throw new AlreadyMember('organizations: the user is a member already.')
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
export async function changeUnderVersion(
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

export async function requireMember({ rows, organization }: Membership, userId: string): Promise<Row<MemberRow>> {
  const target = await findMembershipRow(rows, organization.id, userId)
  if (!target) throw noMember()
  return target
}

function noMember(): NoSuchOrganization {
  return new NoSuchOrganization('organizations: the user is no member.')
}

async function writesOfLeaving(membership: Membership, target: Row<MemberRow>, removed: boolean): Promise<readonly AtomicWrite[]> {
  await assertOtherOwner(membership, target)
  return [{ record: 'organizationMember', take: target.id, if: { role: target.role } }, await departureWrite(membership, target, removed)]
}

/** Throws LastOwner where the organization would be left without an owner. */
export async function assertOtherOwner(membership: Membership, { role, suspended }: MemberRow): Promise<void> {
  // A suspended owner is none of those who are left.
  if (role !== 'owner' || suspended !== null) return
  const { id, name } = membership.organization
  if ((await countOwners(membership.rows, id)) < 2)
    throw new LastOwner(`organizations: the last owner of "${name}" (${id}) stays one. Hand the organization over first, or delete it.`)
}

/** Owners whose membership is in force; at most 2 are counted. */
export async function countOwners(rows: AnyContext, organizationId: string): Promise<number> {
  const owners = await listRows(rows.records('organizationMember'), { where: { organizationId, role: 'owner' } })
  return Math.min(2, owners.filter(({ suspended }) => suspended === null).length)
}

/** Of those with the most permissions who joined first. */
async function findHeir({ rows, organization, roles: known }: Membership): Promise<Row<MemberRow> | undefined> {
  const roles = [...known].filter(([role]) => role !== 'owner').toSorted(([, one], [, other]) => other.size - one.size)
  for (const [role] of roles) {
    const found = await listRows(rows.records('organizationMember'), { where: { organizationId: organization.id, role } })
    const first = found.find(({ suspended }) => suspended === null)
    if (first) return first
  }
  return undefined
}

/** After the row is gone: what was made with it before ends. Repeat it where it failed. */
export async function endMembership({ ctx, rows }: Actor, organizationId: string, userId: string): Promise<void> {
  // Rows that are left grant nothing, because rights of a team hold for members alone.
  await rows.records('organizationTeamMember').deleteWhere({ where: { organizationId, userId } })
  await ctx.access.end({ member: { organizationId, userId } }, { by: 'organizations' })
}

export function assertCovers({ held, roles }: Membership, ...others: readonly string[]): void {
  if (held !== null && !others.every((other) => coversRole(roles, held, other)))
    throw new OrganizationDenied('organizations: a member cannot give, change or take a role that may do more than their own.')
}

export function readRole({ roles }: Pick<Membership, 'roles'>, role: unknown): string {
  if (typeof role !== 'string' || !roles.has(role))
    throw new OrganizationInput(`organizations: the role must be one of ${[...roles.keys()].join(', ')}.`)
  return role
}
