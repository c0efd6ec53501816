/** Organizations themselves: made, shown, changed, deleted. */
import { AccessDenied, HttpError, type Row } from 'authkernel/kernel'
import { type Actor, isId, memberOf, seatIn } from './desk.ts'
import { NoSuchOrganization, OrganizationBusy, OrganizationFull, OrganizationInput, OrganizationTaken } from './errors.ts'
import type { OrganizationRow } from './tables.ts'
import { tell } from './told.ts'

/** An organization as its members see it. */
export interface Organization {
  id: string
  name: string
  /** For addresses; unique. The id where none was given. */
  slug: string
  created: Date
}
/** With what the person is in it. */
export interface OwnOrganization extends Organization {
  role: string
  joined: Date
}
/** A new organization. */
export interface NewOrganization {
  /** 1 to 100 characters. */
  name: string
  /** 1 to 48 of a-z, 0-9 and "-"; default: the id. */
  slug?: string | undefined
  /** Id of its owner; only where your own code asks. */
  owner?: string | undefined
}

export async function create(actor: Actor, { name, slug, owner }: NewOrganization): Promise<Organization> {
  const { ctx, rows, user, options } = actor
  const wanted = nameOf(name)
  const address = slug === undefined || slug === '' ? undefined : slugOf(slug)
  const userId = user?.id ?? owner
  if (!isId(userId)) throw new OrganizationInput('organizations.create: name the `owner`, the id of a user.')
  if (user && owner !== undefined && owner !== user.id)
    throw new AccessDenied('organizations.create: nobody makes organizations for others.')
  if (user && (await options.create({ user, ctx })) !== true)
    throw new AccessDenied('organizations.create: the option `create` refused it.')
  // One at a time for each person: else parallel requests would exceed the limit.
  const lease = await rows.lease(`organizations create ${userId}`, 10)
  if (!lease) throw new OrganizationBusy('organizations.create: another one is being made at the moment.')
  try {
    if (user && (await ownedBy(actor, userId)) >= options.limits.perUser)
      throw new OrganizationFull(`organizations.create: the person owns ${options.limits.perUser} organizations.`)
    const id = crypto.randomUUID()
    const row = { id, name: wanted, slug: address ?? id, members: 1, version: 0, closing: false, created: ctx.now }
    const made = await rows.atomic([
      { record: 'organization', create: row },
      { record: 'organizationMember', create: { organizationId: id, userId, role: 'owner', joined: ctx.now } },
    ])
    if (!made) throw new OrganizationTaken('organizations.create: the slug is taken.')
    await tell(actor, 'created', id, { userId })
    return shown(row)
  } finally {
    await lease.release()
  }
}

/** Those that the person is in, in the order of joining; at most 1000. */
export async function listOwn({ rows, user }: Actor): Promise<OwnOrganization[]> {
  if (!user) return []
  const { rows: members } = await rows.records('organizationMember').find({ where: { userId: user.id }, limit: 1000 })
  const found = await Promise.all(
    members.map(async ({ organizationId, role, joined }) => {
      const row = await rows.records('organization').get(organizationId)
      return row ? [{ ...shown(row), role, joined }] : []
    }),
  )
  return found.flat()
}

export async function get(actor: Actor, id: string): Promise<OwnOrganization | null> {
  try {
    const { organization, role } = await seatIn(actor, id)
    const own = actor.user && (await memberOf(actor.rows, id, actor.user.id))
    return { ...shown(organization), role: role ?? 'system', joined: own?.joined ?? organization.created }
  } catch (error) {
    if (error instanceof NoSuchOrganization) return null
    throw error
  }
}

export async function update(actor: Actor, id: string, { name, slug }: { name?: string; slug?: string }): Promise<Organization> {
  const { organization, rows } = await seatIn(actor, id, 'organization:update')
  const change = { ...(name !== undefined && { name: nameOf(name) }), ...(slug !== undefined && { slug: slugOf(slug) }) }
  if (Object.keys(change).length === 0) return shown(organization)
  const [{ version }, set] = [organization, { ...change, version: organization.version + 1 }]
  const done = await rows.atomic([{ record: 'organization', update: id, change: set, if: { version, closing: false } }])
  if (!done) {
    const other = change.slug === undefined ? null : await rows.records('organization').get({ slug: change.slug })
    if (other && other.id !== id) throw new OrganizationTaken('organizations.update: the slug is taken.')
    throw new OrganizationBusy('organizations.update: others changed the organization at the same moment.')
  }
  await tell(actor, 'updated', id)
  return shown({ ...organization, ...change })
}

/** Deletes it with members, teams, invitations and domains. After a crash call it again. */
export async function remove(actor: Actor, id: string): Promise<void> {
  const { organization, rows } = await seatIn(actor, id, 'organization:delete', { closing: true })
  const { version } = organization
  // From here on nobody joins; a right that was lost meanwhile has raised the version.
  if (!(await rows.records('organization').update(id, { version: version + 1, closing: true }, { if: { version } })))
    throw new OrganizationBusy('organizations.delete: others changed the organization at the same moment.')
  const where = { organizationId: id }
  await rows.records('organizationInvitation').deleteWhere({ where })
  await rows.records('organizationClaim').deleteWhere({ where })
  await rows.records('organizationDomain').deleteWhere({ where })
  await rows.records('organizationTeamMember').deleteWhere({ where })
  await rows.records('organizationTeam').deleteWhere({ where })
  const members = rows.records('organizationMember')
  for (const role of actor.options.roles.keys()) if (role !== 'owner') await members.deleteWhere({ where: { ...where, role } })
  // Whoever deletes it goes last, to be able to do it again after a crash.
  const own = actor.user && (await memberOf(rows, id, actor.user.id))
  for (const { id: other } of (await members.find({ where, limit: 1000 })).rows) if (other !== own?.id) await members.delete(other)
  await rows.atomic([{ record: 'organization', delete: id }, ...(own ? [{ record: 'organizationMember' as const, delete: own.id }] : [])])
  await tell(actor, 'deleted', id)
}

async function ownedBy({ rows }: Actor, userId: string): Promise<number> {
  const { rows: members } = await rows.records('organizationMember').find({ where: { userId }, limit: 1000 })
  return members.filter(({ role }) => role === 'owner').length
}

export function nameOf(name: unknown): string {
  const text = typeof name === 'string' ? name.trim() : ''
  if (text === '' || text.length > 100 || /\p{Cc}/u.test(text) || /\p{Cs}/u.test(text))
    throw new OrganizationInput('organizations: `name` must be 1 to 100 characters.')
  return text
}
function slugOf(slug: unknown): string {
  if (typeof slug !== 'string' || !/^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/.test(slug))
    throw new OrganizationInput('organizations: `slug` must be 1 to 48 of a-z, 0-9 and "-".')
  return slug
}
function shown({ id, name, slug, created }: Pick<Row<OrganizationRow>, 'id' | 'name' | 'slug' | 'created'>): Organization {
  return { id, name, slug, created }
}

/** Throws HttpError 429 beyond so many in an hour. */
export async function atMost({ ctx }: Pick<Actor, 'ctx'>, key: string, max: number): Promise<void> {
  const { allowed, retryAfter } = await ctx.limit.take(`organizations ${key}`, { max, seconds: 3600 })
  if (!allowed) throw new HttpError(429, 'This was done too often. Try again later.', { 'Retry-After': String(retryAfter) })
}
