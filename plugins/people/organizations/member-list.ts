/** The members of an organization: by role, by a part of their name or address, a page at a time. */
import type { Row, User } from 'authkernel/kernel'
import { type Actor, type Membership, requireMembership } from './actor.ts'
import { OrganizationInput } from './errors.ts'
import { readRole } from './members.ts'
import { heldRoles } from './roles.ts'
import type { MemberRow } from './tables.ts'

/** A member as the others see it. */
export interface Member {
  userId: string
  /** The main role. */
  role: string
  /** All roles, the main one first. */
  roles: readonly string[]
  joined: Date
  /** Since when the membership gives nothing; null: it is in force. */
  suspended: Date | null
  /** When they last signed in to the organization, or switched to it; null: never. */
  seen: Date | null
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
  /** The main role; default: all. */
  role?: string | undefined
  /** A part of the name or of the address, at most 100 characters; upper and lower case are the same. Default: all. */
  text?: string | undefined
  cursor?: string | undefined
  /**
   * Default 50, at most 200. With `text` a page may have more or fewer members: 2000 are looked at in one call, and `cursor` goes on behind them.
   */
  limit?: number | undefined
}

const [chunk, mostLookedAt] = [200, 2000]

export async function listMembers(actor: Actor, id: string, search: MemberSearch = {}): Promise<MemberPage> {
  const membership = await requireMembership(actor, id, 'member:read')
  const { role, limit = 50, text = '' } = search
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new OrganizationInput('organizations.members: `limit` must be a whole number from 1 to 200.')
  if (typeof text !== 'string' || text.length > 100)
    throw new OrganizationInput('organizations.members: `text` must be at most 100 characters.')
  const where = { organizationId: id, ...(role !== undefined && { role: readRole(membership, role) }) }
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return readPage(membership, where, limit, search.cursor)
  const members: Member[] = []
  let { cursor } = search
  for (let looked = 0; looked < mostLookedAt && members.length < limit; looked += chunk) {
    const page = await readPage(membership, where, chunk, cursor)
    members.push(...page.members.filter(({ name, email }) => [name, email].some((one) => one?.toLowerCase().includes(wanted))))
    cursor = page.cursor
    if (cursor === undefined) break
  }
  return { members, cursor }
}

/** The members of these ids, for pages that name users. */
export async function findUsers({ ctx }: Pick<Actor, 'ctx'>, ids: readonly string[]): Promise<ReadonlyMap<string, User>> {
  const users = ids.length === 0 ? [] : await ctx.store?.getUsers([...new Set(ids)])
  return new Map(users?.map((user) => [user.id, user]))
}

async function readPage(membership: Membership, where: Partial<MemberRow>, limit: number, cursor: string | undefined): Promise<MemberPage> {
  const page = await membership.rows.records('organizationMember').find({ where, limit, cursor })
  const users = await findUsers(
    membership,
    page.rows.map(({ userId }) => userId),
  )
  return { members: page.rows.map((row) => toMember(row, users.get(row.userId))), cursor: page.cursor }
}

function toMember(row: Row<MemberRow>, user: User | undefined): Member {
  const { userId, role, joined, suspended, seen } = row
  const { name = null, email = null, image = null } = user ?? {}
  return { userId, role, roles: heldRoles(row), joined, suspended, seen, name, email, image }
}
