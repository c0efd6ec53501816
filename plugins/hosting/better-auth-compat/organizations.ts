/** What moves of organizations: they themselves, teams, members, open invitations. */
import { sha256, toHex } from 'authkernel/kernel'
import type { InvitationTaken, MemberTaken, OrganizationTaken, TeamMemberTaken, TeamTaken } from 'authkernel/plugins/organizations'
import type { SourceRow } from '../import/ledger.ts'
import type { BetterAuthModel } from './schema.ts'
import { type Condition, type Source, type SourceFields, toDate, toText } from './source.ts'
import type { MovedKind } from './users.ts'

const epoch = new Date(0)

/**
 * The token of an invitation that better-auth mailed: redirect its page to `/organizations/invitation?token=` with it, and open invitations go on. `id` is the one in the
 * address of that mail.
 */
export async function betterAuthInvitationToken(id: string): Promise<string> {
  return toHex(await sha256(`better-auth invitation ${id}`))
}

/** In the order in which they are written: what others are in comes first. */
export function organizationKinds(): readonly MovedKind<unknown>[] {
  return [
    kindOf<OrganizationTaken>('organizations', 'organization', 'organizationImport', 'organization', {
      toRow: (row) => ({ id: textOf(row, 'id'), name: textOf(row, 'name'), slug: textOf(row, 'slug'), created: createdOf(row) }),
      keyOf: ({ id }) => id,
    }),
    kindOf<TeamTaken>('teams', 'team', 'teamImport', 'organizationTeam', {
      toRow: (row) => ({
        id: textOf(row, 'id'),
        organizationId: textOf(row, 'organizationId'),
        name: textOf(row, 'name'),
        created: createdOf(row),
      }),
      keyOf: ({ id }) => id,
    }),
    kindOf<MemberTaken>('members', 'member', 'memberImport', 'organizationMember', {
      toRow: (row) => ({
        organizationId: textOf(row, 'organizationId'),
        userId: textOf(row, 'userId'),
        role: mainRole(textOf(row, 'role')),
        joined: createdOf(row),
      }),
      keyOf: ({ organizationId, userId }) => `${organizationId}/${userId}`,
      by: 'organizationId',
      ownerOf: ({ userId }) => userId,
    }),
    kindOf<TeamMemberTaken>('team-members', 'teamMember', 'teamMemberImport', 'organizationTeamMember', {
      toRow: (row, teams) => {
        const organizationId = teams.get(textOf(row, 'teamId'))
        if (organizationId === undefined) return undefined
        return { teamId: textOf(row, 'teamId'), organizationId, userId: textOf(row, 'userId'), joined: createdOf(row) }
      },
      keyOf: ({ teamId, userId }) => `${teamId}/${userId}`,
      by: 'teamId',
      ownerOf: ({ userId }) => userId,
    }),
    kindOf<InvitationTaken>('invitations', 'invitation', 'invitationImport', 'organizationInvitation', {
      where: [['status', '=', 'pending']],
      toRow: async (row, _teams, now) => {
        const expires = toDate(row['expiresAt'])
        if (expires === null || expires <= now) return undefined
        return {
          organizationId: textOf(row, 'organizationId'),
          email: textOf(row, 'email'),
          role: mainRole(toText(row['role']) ?? 'member'),
          // Several are separated by commas: a user joins the first.
          teamId: toText(row['teamId'])?.split(',')[0] ?? null,
          inviterId: toText(row['inviterId']),
          token: await betterAuthInvitationToken(textOf(row, 'id')),
          created: toDate(row['createdAt']) ?? now,
          expires,
        }
      },
      keyOf: ({ organizationId, email }) => `${organizationId}/${email}`,
      by: 'organizationId',
    }),
  ]
}

interface Reading<T> {
  where?: readonly Condition[]
  /** Undefined: nothing that moves. `teams`: ids of organizations by those of their teams. */
  toRow(row: SourceFields, teams: ReadonlyMap<string, string>, now: Date): T | undefined | Promise<T | undefined>
  keyOf(value: T): string
  /** The field that the first part of a key is in; default `id`. */
  by?: string
  ownerOf?(value: T): string
}

function kindOf<T>(
  kind: string,
  model: BetterAuthModel,
  service: string,
  record: string,
  { where = [], toRow, keyOf, by = 'id', ownerOf }: Reading<T>,
): MovedKind<T> {
  const toRows = async (source: Source, rows: readonly SourceFields[], now: Date): Promise<SourceRow<T>[]> => {
    const teams = model === 'teamMember' ? await organizationsOfTeams(source, rows) : new Map<string, string>()
    const values = await Promise.all(rows.map((row) => toRow(row, teams, now)))
    return values.flatMap((value) => (value === undefined ? [] : [{ key: keyOf(value), value, userId: ownerOf?.(value) ?? null }]))
  }
  return {
    kind,
    model,
    service,
    record,
    absent: (count) => ({ level: 'loss', message: `${count} ${kind} stay behind: use organizationsPlugin().` }),
    async count(source, now) {
      if (where.length === 0) return source.count(model)
      // Open invitations that have ended are none that move.
      let count = 0
      for await (const rows of source.pages(model, where)) count += (await toRows(source, rows, now)).length
      return count
    },
    async *pages({ source, ctx }) {
      for await (const rows of source.pages(model, where)) yield toRows(source, rows, ctx.now)
    },
    async isThere({ source, ctx }, keys) {
      const ids = [...new Set(keys.map((key) => key.split('/')[0]!))]
      const rows = await source.find(model, by, ids, where)
      return new Set((await toRows(source, rows, ctx.now)).map(({ key }) => key))
    },
  }
}

async function organizationsOfTeams(source: Source, rows: readonly SourceFields[]): Promise<Map<string, string>> {
  const teams = await source.find('team', 'id', [...new Set(rows.map((row) => textOf(row, 'teamId')))])
  return new Map(teams.map((team) => [textOf(team, 'id'), textOf(team, 'organizationId')]))
}

/** better-auth keeps several roles with commas between; here a member has one, the mightiest that both know. */
function mainRole(roles: string): string {
  const list = roles.split(',').map((role) => role.trim())
  return ['owner', 'admin'].find((role) => list.includes(role)) ?? list.find((role) => role !== 'member') ?? list[0] ?? 'member'
}

function textOf(row: SourceFields, field: string): string {
  return String(row[field] ?? '')
}

function createdOf(row: SourceFields): Date {
  return toDate(row['createdAt']) ?? epoch
}
