/** Organizations: created, read, changed, deleted. */
import { AccessDenied, HttpError, randomUUID, type Row } from 'authkernel/kernel'
import { type Actor, isId, findMember, requireMembership } from './actor.ts'
import { NoSuchOrganization, OrganizationBusy, OrganizationFull, OrganizationInput, OrganizationTaken } from './errors.ts'
import { emitChange } from './events.ts'
import { readFields, readImage } from './organization-fields.ts'
import { heldRoles } from './roles.ts'
import type { OrganizationRow, OrganizationValue } from './tables.ts'

/** An organization as its members see it. */
export interface Organization {
  id: string
  name: string
  /** For addresses; unique. The id where none was given. */
  slug: string
  created: Date
  /** Address of the logo: https, or a path of your app; null: none. */
  image: string | null
  /** Values of the option `fields` that were set. */
  fields: Readonly<Record<string, OrganizationValue>>
}
/** With what the user is in it. */
export interface OwnOrganization extends Organization {
  /** The main role. */
  role: string
  /** All roles, the main one first. */
  roles: readonly string[]
  joined: Date
}
/** A new organization. */
export interface NewOrganization {
  /** 1 to 100 characters. */
  name: string
  /** 1 to 48 of a-z, 0-9 and "-"; default: the id. */
  slug?: string | undefined
  /** Address of the logo: https, or a path of your app. */
  image?: string | null | undefined
  /** Values of the option `fields`. */
  fields?: Readonly<Record<string, unknown>> | undefined
  /** Id of its owner; only where your own code asks. */
  owner?: string | undefined
}

/** What of an organization is changed. What is absent stays. */
export interface OrganizationChanges {
  /** 1 to 100 characters. */
  name?: string | undefined
  /** 1 to 48 of a-z, 0-9 and "-". */
  slug?: string | undefined
  /** Address of the logo: https, or a path of your app; null: none. */
  image?: string | null | undefined
  /** Values of the option `fields`: those that are named change, null takes one away. */
  fields?: Readonly<Record<string, unknown>> | undefined
}

export async function createOrganization(actor: Actor, { name, slug, owner, image, fields }: NewOrganization): Promise<Organization> {
  const { ctx, rows, user, options } = actor
  const wanted = readName(name)
  const more = { image: readImage(image ?? null), own: readFields(actor, fields ?? {}, null) }
  const address = slug === undefined || slug === '' ? undefined : readSlug(slug)
  const userId = user?.id ?? owner
  if (!isId(userId)) throw new OrganizationInput('organizations.create: name the `owner`, the id of a user.')
  if (user && owner !== undefined && owner !== user.id)
    throw new AccessDenied('organizations.create: a user cannot create an organization for another user.')
  if (user && (await options.create({ user, ctx })) !== true)
    throw new AccessDenied('organizations.create: the option `create` rejected it.')
  // One at a time for each user: else parallel requests would exceed the limit.
  const lease = await rows.lease(`organizations create ${userId}`, 10)
  if (!lease) throw new OrganizationBusy('organizations.create: another one is being made at the moment.')
  try {
    if (user && (await countOwned(actor, userId)) >= options.limits.perUser)
      throw new OrganizationFull(`organizations.create: the user owns ${options.limits.perUser} organizations.`)
    const id = randomUUID(ctx.runtime)
    const row = { id, name: wanted, slug: address ?? id, members: 1, version: 0, closing: false, created: ctx.now, ...more }
    const created = await rows.atomic([
      { record: 'organization', create: row },
      { record: 'organizationMember', create: { organizationId: id, userId, role: 'owner', joined: ctx.now } },
    ])
    if (!created) throw new OrganizationTaken('organizations.create: the slug is taken.')
    await emitChange(actor, 'created', id, { userId })
    return toOrganization(row)
  } finally {
    await lease.release()
  }
}

/** Those that the user is in, in the order of joining; at most 1000. */
export async function listOrganizations({ rows, user }: Actor): Promise<OwnOrganization[]> {
  if (!user) return []
  const { rows: members } = await rows.records('organizationMember').find({ where: { userId: user.id }, limit: 1000 })
  const found = await Promise.all(
    members.map(async ({ organizationId, role, roles, joined, suspended }) => {
      const row = suspended !== null ? null : await rows.records('organization').get(organizationId)
      return row ? [{ ...toOrganization(row), role, roles: heldRoles({ role, roles }), joined }] : []
    }),
  )
  return found.flat()
}

export async function findOrganization(actor: Actor, id: string): Promise<OwnOrganization | null> {
  try {
    const { organization, held } = await requireMembership(actor, id)
    const own = actor.user && (await findMember(actor.rows, id, actor.user.id))
    return {
      ...toOrganization(organization),
      role: held?.[0] ?? 'system',
      roles: held ?? ['system'],
      joined: own?.joined ?? organization.created,
    }
  } catch (error) {
    if (error instanceof NoSuchOrganization) return null
    throw error
  }
}

export async function updateOrganization(
  actor: Actor,
  id: string,
  { name, slug, image, fields }: OrganizationChanges,
): Promise<Organization> {
  const { organization, rows } = await requireMembership(actor, id, 'organization:update')
  const change = {
    ...(name !== undefined && { name: readName(name) }),
    ...(slug !== undefined && { slug: readSlug(slug) }),
    ...(image !== undefined && { image: readImage(image) }),
    ...(fields !== undefined && { own: readFields(actor, fields, organization.own) }),
  }
  if (Object.keys(change).length === 0) return toOrganization(organization)
  const [{ version }, set] = [organization, { ...change, version: organization.version + 1 }]
  const done = await rows.atomic([{ record: 'organization', update: id, change: set, if: { version, closing: false } }])
  if (!done) {
    const other = change.slug === undefined ? null : await rows.records('organization').get({ slug: change.slug })
    if (other && other.id !== id) throw new OrganizationTaken('organizations.update: the slug is taken.')
    throw new OrganizationBusy('organizations.update: others changed the organization at the same moment.')
  }
  await emitChange(actor, 'updated', id)
  return toOrganization({ ...organization, ...change })
}

/** Deletes it with members, teams, invitations and domains. After a crash call it again. */
export async function deleteOrganization(actor: Actor, id: string): Promise<void> {
  const { organization, rows, roles } = await requireMembership(actor, id, 'organization:delete', { closing: true })
  const { version } = organization
  // From here on no user can join; a right that was lost meanwhile has raised the version.
  if (!(await rows.records('organization').update(id, { version: version + 1, closing: true }, { if: { version } })))
    throw new OrganizationBusy('organizations.delete: others changed the organization at the same moment.')
  const where = { organizationId: id }
  await rows.records('organizationInvitation').deleteWhere({ where })
  await rows.records('organizationClaim').deleteWhere({ where })
  await rows.records('organizationDomain').deleteWhere({ where })
  await rows.records('organizationTeamMember').deleteWhere({ where })
  await rows.records('organizationTeam').deleteWhere({ where })
  const members = rows.records('organizationMember')
  for (const role of roles.keys()) if (role !== 'owner') await members.deleteWhere({ where: { ...where, role } })
  for (const record of ['organizationRole', 'organizationDeparture', 'organizationEvent'] as const)
    await rows.records(record).deleteWhere({ where })
  // The user who deletes it goes last, and can do it again after a crash.
  const own = actor.user && (await findMember(rows, id, actor.user.id))
  for (const { id: other } of (await members.find({ where, limit: 1000 })).rows) if (other !== own?.id) await members.delete(other)
  await rows.atomic([{ record: 'organization', delete: id }, ...(own ? [{ record: 'organizationMember' as const, delete: own.id }] : [])])
  await emitChange(actor, 'deleted', id)
}

async function countOwned({ rows }: Actor, userId: string): Promise<number> {
  const { rows: members } = await rows.records('organizationMember').find({ where: { userId }, limit: 1000 })
  return members.filter(({ role }) => role === 'owner').length
}

export function readName(name: unknown): string {
  const text = typeof name === 'string' ? name.trim() : ''
  if (text === '' || text.length > 100 || /\p{Cc}/u.test(text) || /\p{Cs}/u.test(text))
    throw new OrganizationInput('organizations: `name` must be 1 to 100 characters.')
  return text
}
function readSlug(slug: unknown): string {
  if (typeof slug !== 'string' || !/^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/.test(slug))
    throw new OrganizationInput('organizations: `slug` must be 1 to 48 of a-z, 0-9 and "-".')
  return slug
}
export function toOrganization(row: Pick<Row<OrganizationRow>, 'id' | 'name' | 'slug' | 'created' | 'image' | 'own'>): Organization {
  const { id, name, slug, created, image, own } = row
  return { id, name, slug, created, image, fields: own ?? {} }
}

/** Throws HttpError 429 beyond so many in an hour. */
export async function limitPerHour({ ctx }: Pick<Actor, 'ctx'>, key: string, max: number): Promise<void> {
  const { allowed, retryAfter } = await ctx.limit.take(`organizations ${key}`, { max, seconds: 3600 })
  if (!allowed) throw new HttpError(429, 'This was done too often. Try again later.', { 'Retry-After': String(retryAfter) })
}
