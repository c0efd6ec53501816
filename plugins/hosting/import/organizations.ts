/** Organizations and their members, which a source gives after its users. */
import type { AnyContext } from 'authkernel/kernel'
import type { MemberTaken, OrganizationTaken } from 'authkernel/plugins/organizations'
import type { Problems } from './problems.ts'
import type { ImportedMember, ImportedOrganization } from './sources/shape.ts'

/** A row for the ledger. Dates that the source does not give are not compared. */
export interface OrganizationRow<T> {
  key: string
  value: T
  userId: string | null
  compare: unknown
}

/** Organizations as they are stored here. Their ids stay. */
export function toOrganizations(
  ctx: AnyContext,
  given: readonly ImportedOrganization[],
  problems: Problems,
): OrganizationRow<OrganizationTaken>[] {
  return given.flatMap(({ id, name, slug, created }) => {
    if (id.length > 64) {
      problems.note('bad-rows', `organization ${id}: its id has more than 64 characters`)
      return []
    }
    const address = typeof slug === 'string' && /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/.test(slug) ? slug : id
    const facts = { id, name: name.trim().slice(0, 100) || id, slug: address }
    return [{ key: id, value: { ...facts, created: created ?? ctx.now }, userId: null, compare: facts }]
  })
}

/** Members as they are stored here. Those of users or organizations that were not taken are noted. */
export function toMembers(
  ctx: AnyContext,
  given: readonly ImportedMember[],
  known: { users: ReadonlySet<string>; organizations: ReadonlySet<string> },
  problems: Problems,
): OrganizationRow<MemberTaken>[] {
  return given.flatMap(({ organization, user, role, joined }) => {
    if (!known.users.has(user) || !known.organizations.has(organization)) {
      problems.note('members', `${organization} ${user}`)
      return []
    }
    const facts = { organizationId: organization, userId: user, role }
    return [{ key: `${organization}/${user}`, value: { ...facts, joined: joined ?? ctx.now }, userId: user, compare: facts }]
  })
}
