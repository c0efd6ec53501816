/** The records of organizations: they themselves, members, teams, invitations, domains. */
import type { RecordSpec } from 'authkernel/kernel'

/** What a field of the option `fields` holds. */
export type OrganizationValue = string | number | boolean
/** A row of `organization`. */
export interface OrganizationRow {
  name: string
  slug: string
  /** How many there are; joins count it up to the limit. */
  members: number
  /** Raised by every change of roles, so that a right which was lost meanwhile changes nothing. */
  version: number
  /** It is being deleted, and no user can join. */
  closing: boolean
  created: Date
  /** Address of the logo; null: none. */
  image: string | null
  /** Values of the option `fields`; null: none was set. */
  own: Record<string, OrganizationValue> | null
}
/** A row of `organizationMember`: permissions are read from here at each use. */
export interface MemberRow {
  organizationId: string
  userId: string
  role: string
  /** Further roles; null: none. */
  roles: string[] | null
  joined: Date
  /** Since when the membership gives nothing; null: it is in force. */
  suspended: Date | null
  /** When the user last signed in to the organization, or switched to it; null: never. */
  seen: Date | null
}
/** A row of `organizationRole`: a role that the members of one organization made. */
export interface RoleRow {
  organizationId: string
  /** What members are given: `custom-` and a random part, so that a role that is deleted never comes back under its name. */
  key: string
  title: string
  permissions: string[]
  created: Date
}
/** A row of `organizationDeparture`: a user who is no member any more does not join again by a domain alone. */
export interface DepartureRow {
  organizationId: string
  userId: string
  /** Another user removed them: they can come back by an invitation alone. */
  removed: boolean
}
/** A row of `organizationEvent`: what happened in one organization. */
export interface EventRow {
  organizationId: string
  at: Date
  act: string
  /** Id of who did it; null: the host's own code, or a check that runs by itself. */
  actor: string | null
  /** Of whom it is about. */
  about: string | null
  role: string | null
  /** Of the team, role, invitation or domain. */
  thing: string | null
  until: Date
}
/** A row of `organizationTeam`. */
export interface TeamRow {
  organizationId: string
  name: string
  created: Date
}
/** A row of `organizationTeamMember`. `role` is what the user is in this team beside the role in the organization. */
export interface TeamMemberRow {
  teamId: string
  organizationId: string
  userId: string
  role: string | null
  joined: Date
}
/** A row of `organizationInvitation`. */
export interface InvitationRow {
  organizationId: string
  email: string
  role: string
  teamId: string | null
  /** Digest of what stands in the mail. */
  token: string
  /** Null: the host's own code invited. */
  inviterId: string | null
  created: Date
  expires: Date
}
/** A row of `organizationClaim`: a domain that is not proved. Several organizations may claim one. */
export interface ClaimRow {
  organizationId: string
  domain: string
  value: string
  created: Date
  expires: Date
}
/** A row of `organizationDomain`: a proved domain, of one organization. */
export interface DomainRow {
  organizationId: string
  domain: string
  value: string
  provider: string | null
  verified: Date
  /** When the record was last seen. */
  checked: Date
  /** How users with an address in it become members; null: by invitation alone. */
  joining: 'suggest' | 'join' | null
}

/** A row of `organizationActive`: what a user chose last, in any browser. */
export interface ActiveRow {
  userId: string
  /** Id of the organization. Null: the user chose none. */
  chosen: string | null
}

declare module 'authkernel/kernel' {
  interface Records {
    organization: OrganizationRow
    organizationMember: MemberRow
    organizationRole: RoleRow
    organizationDeparture: DepartureRow
    organizationEvent: EventRow
    organizationTeam: TeamRow
    organizationTeamMember: TeamMemberRow
    organizationInvitation: InvitationRow
    organizationClaim: ClaimRow
    organizationDomain: DomainRow
    organizationActive: ActiveRow
  }
}

const id = { type: 'string', max: 64 } as const
const user = { type: 'string', max: 255 } as const
const role = { type: 'string', max: 32 } as const
const name = { type: 'string', max: 100 } as const
const domain = { type: 'string', max: 253 } as const
const date = { type: 'date' } as const

export const organizationTable: RecordSpec<OrganizationRow> = {
  fields: {
    name,
    slug: id,
    members: { type: 'integer' },
    version: { type: 'integer' },
    closing: { type: 'boolean' },
    created: date,
    image: { type: 'text', optional: true },
    own: { type: 'json', optional: true },
  },
  unique: [['slug']],
}
export const memberTable: RecordSpec<MemberRow> = {
  fields: {
    organizationId: id,
    userId: user,
    role,
    roles: { type: 'json', optional: true },
    joined: date,
    suspended: { type: 'date', optional: true },
    seen: { type: 'date', optional: true },
  },
  unique: [['organizationId', 'userId']],
  index: [
    ['organizationId', 'joined'],
    ['organizationId', 'role', 'joined'],
    ['userId', 'joined'],
  ],
  owner: 'user',
}
export const organizationRoleTable: RecordSpec<RoleRow> = {
  fields: { organizationId: id, key: role, title: name, permissions: { type: 'json' }, created: date },
  unique: [
    ['organizationId', 'key'],
    ['organizationId', 'title'],
  ],
  index: [['organizationId', 'created']],
}
export const departureTable: RecordSpec<DepartureRow> = {
  fields: { organizationId: id, userId: user, removed: { type: 'boolean' } },
  unique: [['organizationId', 'userId']],
  index: [['organizationId', 'userId']],
  owner: 'user',
}
export const eventTable: RecordSpec<EventRow> = {
  fields: {
    organizationId: id,
    at: date,
    act: { type: 'string', max: 32 },
    actor: { ...user, optional: true },
    about: { ...user, optional: true },
    role: { ...role, optional: true },
    thing: { ...domain, optional: true },
    until: date,
  },
  index: [['organizationId', 'at']],
  expires: 'until',
}
export const teamTable: RecordSpec<TeamRow> = {
  fields: { organizationId: id, name, created: date },
  unique: [['organizationId', 'name']],
  index: [['organizationId', 'created']],
}
export const teamMemberTable: RecordSpec<TeamMemberRow> = {
  fields: { teamId: id, organizationId: id, userId: user, role: { ...role, optional: true }, joined: date },
  unique: [['teamId', 'userId']],
  index: [
    ['teamId', 'joined'],
    ['organizationId', 'userId'],
    ['userId', 'joined'],
  ],
  owner: 'user',
}
export const invitationTable: RecordSpec<InvitationRow> = {
  fields: {
    organizationId: id,
    email: { type: 'string', max: 254 },
    role,
    teamId: { ...id, optional: true },
    token: id,
    inviterId: { ...user, optional: true },
    created: date,
    expires: date,
  },
  unique: [['token'], ['organizationId', 'email']],
  index: [
    ['organizationId', 'created'],
    ['email', 'created'],
  ],
  expires: 'expires',
}
export const claimTable: RecordSpec<ClaimRow> = {
  fields: { organizationId: id, domain, value: id, created: date, expires: date },
  unique: [['organizationId', 'domain']],
  index: [['organizationId', 'created']],
  expires: 'expires',
}
export const domainTable: RecordSpec<DomainRow> = {
  fields: {
    organizationId: id,
    domain,
    value: id,
    provider: { type: 'string', max: 100, optional: true },
    verified: date,
    checked: date,
    joining: { type: 'string', max: 16, optional: true },
  },
  unique: [['domain']],
  index: [['organizationId', 'verified'], ['checked']],
}
export const activeTable: RecordSpec<ActiveRow> = {
  fields: { userId: user, chosen: { ...id, optional: true } },
  unique: [['userId']],
  owner: 'user',
}
