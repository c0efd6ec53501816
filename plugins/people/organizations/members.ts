/** Members and their roles. Every change is written under the version of the organization that its rights were read with. */
import { AccessDenied, type AtomicWrite, type Row } from 'authkernel/kernel'
import { type Actor, isId, memberOf, type Seat, seatIn } from './desk.ts'
import {
  AlreadyMember,
  LastOwner,
  NoSuchOrganization,
  OrganizationBusy,
  OrganizationDenied,
  OrganizationFull,
  OrganizationInput,
} from './errors.ts'
import { covers } from './roles.ts'
import type { MemberRow } from './tables.ts'
import { tell } from './told.ts'

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

export async function list(actor: Actor, id: string, { role, cursor, limit = 50 }: MemberSearch = {}): Promise<MemberPage> {
  const { rows, ctx } = await seatIn(actor, id, 'member:read')
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new OrganizationInput('organizations.members: `limit` must be a whole number from 1 to 200.')
  const where = { organizationId: id, ...(role !== undefined && { role: roleOf(actor, role) }) }
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
  const wanted = roleOf(actor, role)
  await changing(actor, id, 'member:role', async (seat) => {
    const target = await targetIn(seat, userId)
    mayTouch(seat, target.role, wanted)
    if (target.role === wanted) return null
    if (target.role === 'owner') await keepsOwner(seat)
    return [{ record: 'organizationMember', update: target.id, change: { role: wanted }, if: { role: target.role } }]
  })
  await tell(actor, 'member.role', id, { userId, role: wanted })
}

/** The own role becomes `admin`, or that of `role`. */
export async function transfer(actor: Actor, id: string, userId: string, role = 'admin'): Promise<void> {
  const after = roleOf(actor, role)
  await changing(actor, id, 'organization:transfer', async (seat) => {
    const [target, own] = [await targetIn(seat, userId), actor.user && (await memberOf(seat.rows, id, actor.user.id))]
    if (actor.user && own?.role !== 'owner')
      throw new OrganizationDenied('organizations.transfer: only an owner can hand the organization over.')
    if (target.id === own?.id) return null
    return [
      { record: 'organizationMember', update: target.id, change: { role: 'owner' }, if: { role: target.role } },
      ...(own ? [{ record: 'organizationMember' as const, update: own.id, change: { role: after }, if: { role: 'owner' } }] : []),
    ]
  })
  await tell(actor, 'transferred', id, { userId, role: 'owner' })
}

/** Takes a member out. Throws LastOwner. */
export async function remove(actor: Actor, id: string, userId: string): Promise<void> {
  await changing(actor, id, 'member:remove', async (seat) => {
    const target = await targetIn(seat, userId)
    mayTouch(seat, target.role)
    return leaving(seat, target)
  })
  await after(actor, id, userId)
  await tell(actor, 'member.removed', id, { userId })
}

/** Needs no permission. Throws LastOwner. */
export async function leave(actor: Actor, id: string): Promise<void> {
  const userId = actor.user?.id
  if (userId === undefined) throw new OrganizationInput('organizations.leave: name a user.')
  await changing(actor, id, undefined, async (seat) => leaving(seat, await targetIn(seat, userId)))
  await after(actor, id, userId)
  await tell(actor, 'member.left', id, { userId })
}

/**
 * Somebody who is being deleted owns it no longer. Where nobody else does, `handOver` makes an owner of the member with the most permissions; false: there is no
 * other member. Throws LastOwner without `handOver`.
 */
export async function giveUp(actor: Actor, id: string, userId: string, handOver: boolean): Promise<boolean> {
  const end: { heir: Row<MemberRow> | undefined; alone: boolean } = { heir: undefined, alone: false }
  await changing(actor, id, undefined, async (seat) => {
    const target = await memberOf(seat.rows, id, userId)
    if (target?.role !== 'owner') return null
    const leave: AtomicWrite = { record: 'organizationMember', take: target.id, if: { role: 'owner' } }
    if (!handOver) await keepsOwner(seat)
    const last = handOver && (await ownersOf(seat)) < 2
    const heir = last ? await heirOf(seat) : undefined
    Object.assign(end, { heir, alone: last && !heir })
    if (end.alone) return null
    return heir ? [{ record: 'organizationMember', update: heir.id, change: { role: 'owner' }, if: { role: heir.role } }, leave] : [leave]
  })
  if (end.alone) return false
  if (end.heir) await tell(actor, 'transferred', id, { userId: end.heir.userId, role: 'owner' })
  await tell(actor, 'member.left', id, { userId })
  return true
}

/** Without an invitation: for the host's own code alone. */
export async function add(actor: Actor, id: string, userId: string, role = 'member'): Promise<void> {
  if (actor.user) throw new AccessDenied('organizations.add: people are invited. Call it with { system: true } from your own code.')
  const wanted = roleOf(actor, role)
  if (!isId(userId) || !(await actor.ctx.store?.getUser(userId))) throw new OrganizationInput('organizations.add: there is no such user.')
  await join(await seatIn(actor, id), userId, wanted)
  await tell(actor, 'member.added', id, { userId, role: wanted })
}

/** A new member, with what else must be written in the same commit. Throws AlreadyMember, OrganizationFull; false: `more` or the rights did not hold. */
export async function join(seat: Seat, userId: string, role: string, more: readonly AtomicWrite[] = []): Promise<boolean> {
  const { organization, rows, ctx, options } = seat
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
    if (await memberOf(rows, id, userId)) throw new AlreadyMember('organizations: the person is a member already.')
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
async function changing(
  actor: Actor,
  id: string,
  permission: string | undefined,
  work: (seat: Seat) => Promise<readonly AtomicWrite[] | null>,
): Promise<void> {
  for (let tries = 0; tries < 16; tries++) {
    const seat = await seatIn(actor, id, permission)
    const writes = await work(seat)
    if (!writes) return
    const { version } = seat.organization
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

async function targetIn({ rows, organization }: Seat, userId: string): Promise<Row<MemberRow>> {
  const target = await memberOf(rows, organization.id, userId)
  if (!target) throw new NoSuchOrganization('organizations: the person is no member.')
  return target
}

async function leaving(seat: Seat, { id, role }: Row<MemberRow>): Promise<readonly AtomicWrite[]> {
  if (role === 'owner') await keepsOwner(seat)
  return [{ record: 'organizationMember', take: id, if: { role } }]
}

async function keepsOwner(seat: Seat): Promise<void> {
  const { id, name } = seat.organization
  if ((await ownersOf(seat)) < 2)
    throw new LastOwner(`organizations: the last owner of "${name}" (${id}) stays one. Hand the organization over first, or delete it.`)
}

function ownersOf({ rows, organization }: Seat): Promise<number> {
  return rows.records('organizationMember').count({ organizationId: organization.id, role: 'owner' }, { max: 2 })
}

/** Of those with the most permissions who joined first. */
async function heirOf({ rows, organization, options }: Seat): Promise<Row<MemberRow> | undefined> {
  const roles = [...options.roles].filter(([role]) => role !== 'owner').toSorted(([, one], [, other]) => other.size - one.size)
  for (const [role] of roles) {
    const { rows: found } = await rows.records('organizationMember').find({ where: { organizationId: organization.id, role }, limit: 1 })
    if (found[0]) return found[0]
  }
  return undefined
}

// What is left of somebody who is gone grants nothing: rights of a team hold for members alone.
async function after({ rows }: Actor, organizationId: string, userId: string): Promise<void> {
  await rows.records('organizationTeamMember').deleteWhere({ where: { organizationId, userId } })
}

export function mayTouch({ role, options: { roles } }: Seat, ...others: readonly string[]): void {
  if (role !== null && !others.every((other) => covers(roles, role, other)))
    throw new OrganizationDenied('organizations: nobody gives, changes or takes a role that may do more than the own one.')
}

export function roleOf({ options }: Pick<Actor, 'options'>, role: unknown): string {
  if (typeof role !== 'string' || !options.roles.has(role))
    throw new OrganizationInput(`organizations: the role must be one of ${[...options.roles.keys()].join(', ')}.`)
  return role
}
